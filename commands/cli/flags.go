package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
)

// filterValue is the flag of a filter.
type filterValue[O any] struct {
	filter  apitype.Filter[O]
	options *O
	now     func() time.Time
}

func (f filterValue[O]) String() string {
	if f.options == nil {
		return ""
	}
	return f.filter.Text(f.options)
}

// Set reads the flag.
func (f filterValue[O]) Set(text string) error { return f.filter.Set(f.options, text, f.now()) }

// Type is the word in the help.
func (f filterValue[O]) Type() string { return f.filter.Kind() }

// Values are what the flag may be set to, nil for anything.
func (f filterValue[O]) Values() []string { return f.filter.Values() }

// Without leaves out the filters that a command sets itself.
func Without[O any](filters []apitype.Filter[O], names ...string) []apitype.Filter[O] {
	return slices.DeleteFunc(filters, func(f apitype.Filter[O]) bool { return slices.Contains(names, f.Name) })
}

// RegisterFilters declares a flag for each filter of a list.
func RegisterFilters[O any](s *Session, cmd *cobra.Command, filters []apitype.Filter[O], options *O) {
	for _, filter := range filters {
		flag := cmd.Flags().VarPF(filterValue[O]{filter, options, s.App.Now}, filter.FlagName(), "", filter.Help)
		if filter.Kind() == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}

// parsedValue is a flag of a value that is read from its text.
type parsedValue[T fmt.Stringer] struct {
	value **T
	parse func(string) (T, error)
	word  string // In the help.
}

// TimeValue is a flag that holds a time.
func TimeValue(now func() time.Time, value **apitype.Time) parsedValue[apitype.Time] {
	return parsedValue[apitype.Time]{value, func(text string) (apitype.Time, error) { return apitype.ParseTypedTime(text, now()) }, "time"}
}

// UUIDValue is a flag that holds an identifier.
func UUIDValue(value **apitype.UUID) parsedValue[apitype.UUID] {
	return parsedValue[apitype.UUID]{value, apitype.ParseUUID, "uuid"}
}

func (p parsedValue[T]) String() string {
	if p.value == nil || *p.value == nil {
		return ""
	}
	return (**p.value).String()
}

// Set reads the flag.
func (p parsedValue[T]) Set(text string) error {
	value, err := p.parse(text)
	if err != nil {
		return err
	}
	*p.value = &value
	return nil
}

// Type is the word in the help.
func (p parsedValue[T]) Type() string { return p.word }

// keptFile is such a value.
type keptFile struct{ name *string }

// KeptFile is the flag value of a file that is read, and written again: never a stream.
func KeptFile(name *string) pflag.Value { return keptFile{name} }

func (f keptFile) String() string { return *f.name }

func (f keptFile) Type() string { return "string" }

func (f keptFile) Set(name string) error {
	if name == "-" {
		return errors.New("wants a file that can be read again (./- for one of that name)")
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return errors.New("wants a file that can be read again")
	}
	*f.name = name
	return nil
}

// FlagErrorOf is the error of a flag on a command line. A verb that does not exist is told
// before its flags, which nobody knows then; a flag that does not, with those that may have
// been meant.
func FlagErrorOf(args []string, cmd *cobra.Command, err error) error {
	names := Positional(args)
	switch {
	case !cmd.HasParent() && len(names) > 0:
		return UnknownVerb(cmd, names[0])
	case cmd.HasParent() && cmd.HasSubCommands() && len(names) > 1 && !slices.ContainsFunc(cmd.Commands(), func(v *cobra.Command) bool { return v.Name() == names[1] }):
		return UnknownVerb(cmd, names[1])
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return FlagError(err)
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	near := Nearest(unknown.GetSpecifiedName(), known)
	if len(near) == 0 || unknown.GetSpecifiedShortnames() != "" {
		return WithHint(FlagError(err), "see: "+cmd.CommandPath()+" --help")
	}
	return WithHint(FlagError(err), "did you mean --"+strings.Join(near, " or --")+"?")
}

// FlagError is a flag that is not there, or has a value that it cannot have: told in
// words of this program, not in those of the library that reads numbers.
func FlagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return UsageError(err.Error())
	}
	wants := map[string]string{
		"int":      "must be a whole number",
		"duration": "must be a duration such as 30s or 2m",
		"bool":     "must be true or false",
	}[invalid.GetFlag().Value.Type()]
	if wants == "" {
		wants = invalid.Unwrap().Error()
	}
	name, value := "--"+invalid.GetFlag().Name, invalid.GetValue()
	switch {
	case strings.HasPrefix(wants, "is not "):
		return UsageError(name + " " + Quote(value) + " " + wants)
	case value == "":
		return UsageError(name + " " + wants)
	default:
		return UsageError(name + " " + wants + ", not " + Quote(value))
	}
}

// UnpagedFlag declares the flag of a command that walks lists.
func (s *Session) UnpagedFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.unpaged, "accept-unpaged", false, "a list that comes without any sign of pages is the whole of it")
}
