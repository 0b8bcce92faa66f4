package commands

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

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

// registerFilters declares a flag for each filter of a list.
func registerFilters[O any](s *session, cmd *cobra.Command, filters []apitype.Filter[O], options *O) {
	for _, filter := range filters {
		flag := cmd.Flags().VarPF(filterValue[O]{filter, options, s.app.Now}, filter.FlagName(), "", filter.Help)
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

// timeValue is a flag that holds a time.
func timeValue(now func() time.Time, value **apitype.Time) parsedValue[apitype.Time] {
	return parsedValue[apitype.Time]{value, func(text string) (apitype.Time, error) { return apitype.ParseTypedTime(text, now()) }, "time"}
}

// uuidValue is a flag that holds an identifier.
func uuidValue(value **apitype.UUID) parsedValue[apitype.UUID] {
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

// parseID reads an identifier from the arguments.
func parseID(text string) (apitype.UUID, error) {
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return id, usageError(quote(text) + " " + err.Error())
	}
	return id, nil
}
