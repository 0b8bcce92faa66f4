package commands

import (
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

// timeValue is a flag that holds a time.
type timeValue struct {
	now   func() time.Time
	value **apitype.Time
}

func (t timeValue) String() string {
	if t.value == nil || *t.value == nil {
		return ""
	}
	return (*t.value).String()
}

// Set reads the flag.
func (t timeValue) Set(text string) error {
	at, err := apitype.ParseTypedTime(text, t.now())
	if err != nil {
		return err
	}
	*t.value = &at
	return nil
}

// Type is the word in the help.
func (t timeValue) Type() string { return "time" }

// uuidValue is a flag that holds an identifier.
type uuidValue struct{ value **apitype.UUID }

func (u uuidValue) String() string {
	if u.value == nil || *u.value == nil {
		return ""
	}
	return (*u.value).String()
}

// Set reads the flag.
func (u uuidValue) Set(text string) error {
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return err
	}
	*u.value = &id
	return nil
}

// Type is the word in the help.
func (u uuidValue) Type() string { return "uuid" }

// parseID reads an identifier from the arguments.
func parseID(text string) (apitype.UUID, error) {
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return id, usageError(quote(text) + " " + err.Error())
	}
	return id, nil
}
