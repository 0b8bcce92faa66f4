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

// Value is the value of a flag, which is read from its text.
type Value struct {
	Word   string // In the help.
	Text   func() string
	Read   func(string) error
	Choice func() []string // The allowed values. Nil allows any.
}

// String returns the value as it would be typed.
func (v *Value) String() string { return v.Text() }

// Set reads the flag.
func (v *Value) Set(text string) error { return v.Read(text) }

// Type returns the word in the help.
func (v *Value) Type() string { return v.Word }

// Without leaves out the filters that a command sets itself.
func Without[O any](filters []apitype.Filter[O], names ...string) []apitype.Filter[O] {
	return slices.DeleteFunc(filters, func(f apitype.Filter[O]) bool { return slices.Contains(names, f.Name) })
}

// RegisterFilters declares a flag for each filter of a list.
func RegisterFilters[O any](s *Session, cmd *cobra.Command, filters []apitype.Filter[O], options *O) {
	for _, filter := range filters {
		flag := cmd.Flags().VarPF(&Value{
			filter.Kind(), func() string { return filter.Text(options) },
			func(text string) error { return filter.Set(options, text, s.App.Now()) }, filter.Values,
		}, filter.FlagName(), "", filter.Help)
		if filter.Kind() == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}

// parsed returns the value of a flag. It stays nil until it is set.
func parsed[T fmt.Stringer](value **T, word string, parse func(string) (T, error)) *Value {
	text := func() string {
		if *value == nil {
			return ""
		}
		return (**value).String()
	}
	return &Value{Word: word, Text: text, Read: func(text string) error {
		read, err := parse(text)
		if err != nil {
			return err
		}
		*value = &read
		return nil
	}}
}

// TimeValue returns a flag with a time of a filter.
func TimeValue(now func() time.Time, value **apitype.Time) *Value {
	return parsed(value, "time", func(text string) (apitype.Time, error) { return apitype.ParseTypedTime(text, now()) })
}

// BodyTimeValue returns a flag with a time of a request's body.
func BodyTimeValue(now func() time.Time, value **apitype.Time) *Value {
	return parsed(value, "time", func(text string) (apitype.Time, error) { return apitype.ParseBodyTime(text, now()) })
}

// YesFlag declares --yes on a change that asks nothing: every change accepts it.
func YesFlag(cmd *cobra.Command) { cmd.Flags().Bool("yes", false, "do not ask") }

// flagPage is the annotation of flags that have a page of the help for many commands.
const flagPage = "page"

// OnPage moves flags from the help of a command to a page that describes them for many commands.
func OnPage(cmd *cobra.Command, page string, names ...string) {
	for _, name := range names {
		_ = cmd.Flags().SetAnnotation(name, flagPage, []string{page}) // The command has it.
	}
}

// PageOf returns the page that describes a flag; "" is the help of its command.
func PageOf(f *pflag.Flag) string { return strings.Join(f.Annotations[flagPage], "") }

// UUIDValue returns a flag with an identifier.
func UUIDValue(value **apitype.UUID) *Value { return parsed(value, "uuid", parseUUID) }

// KeptFile returns the flag value of a file that is read and written again. It refuses streams.
func KeptFile(kept *string) *Value {
	return &Value{Word: "string", Text: func() string { return *kept }, Read: func(name string) error {
		if name == "-" {
			return errors.New("needs a file that can be read again (./- for a file of that name)")
		}
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return errors.New("needs a file that can be read again")
		}
		*kept = name
		return nil
	}}
}

// FlagErrorOf returns the error of a flag on a command line. An unknown verb comes before its flags. An unknown flag
// comes with the nearest names.
func FlagErrorOf(args []string, cmd *cobra.Command, err error) error {
	names := Positional(args)
	isVerb := func(v *cobra.Command) bool { return v.Name() == names[1] }
	isNoun := cmd.HasParent() && cmd.HasSubCommands()
	if !cmd.HasParent() && len(names) > 0 {
		return UnknownVerb(cmd, names[0])
	}
	if isNoun && len(names) > 1 && !slices.ContainsFunc(cmd.Commands(), isVerb) {
		if i := slices.Index(args, names[0]); strings.HasPrefix(args[i+1], "-") {
			var verbs []string
			for _, verb := range cmd.Commands() {
				verbs = append(verbs, verb.Name())
			}
			return WithHint(
				UsageError("a verb is missing before "+Quote(args[i+1])),
				"verbs: "+strings.Join(verbs, ", "),
			)
		}
		return UnknownVerb(cmd, names[1])
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return FlagError(err)
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	name := unknown.GetSpecifiedName()
	var near []string
	for flag := range strings.SplitSeq(flagsFor[name], ",") {
		if word, _, _ := strings.Cut(flag, " "); slices.Contains(known, word) {
			near = []string{flag}
			break
		}
	}
	if len(near) == 0 && unknown.GetSpecifiedShortnames() == "" {
		near = Nearest(name, known)
	}
	if len(near) == 0 {
		return WithHint(FlagError(err), "see: "+cmd.CommandPath()+" --help")
	}
	return WithHint(FlagError(err), "did you mean --"+strings.Join(near, " or --")+"?")
}

// FlagError rewrites the library's error of an unknown flag or a wrong value in the words of this program.
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
	if strings.HasPrefix(wants, "is not ") {
		return UsageError(name + " " + Quote(value) + " " + wants)
	}
	// The message says enough, and the value may name a donor.
	if value == "" || strings.HasPrefix(wants, "must have ") {
		return UsageError(name + " " + wants)
	}
	return UsageError(name + " " + wants + ", not " + Quote(value))
}

// UnpagedFlag declares the flag of a command that walks lists.
func (s *Session) UnpagedFlag(cmd *cobra.Command) {
	cmd.Flags().
		BoolVar(&s.unpaged, "accept-unpaged", false, "a list that comes without any sign of pages is the whole of it")
	_ = cmd.Flags().MarkHidden("accept-unpaged") // The setting unpaged of a profile takes its place.
}
