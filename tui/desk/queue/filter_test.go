package queue

import (
	"slices"
	"testing"
)

func TestLanguagesOfTheLocale(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		environment map[string]string
		want        []string
	}{
		{"a locale", map[string]string{"LANG": "nl_NL.UTF-8"}, []string{"nl"}},
		{
			name:        "several languages",
			environment: map[string]string{"LANGUAGE": "nl_NL:de:nl", "LANG": "en_US.UTF-8"},
			want:        []string{"nl", "de"},
		},
		{"messages come before the rest", map[string]string{"LC_MESSAGES": "de_DE", "LANG": "en_US"}, []string{"de"}},
		{"no language", map[string]string{"LC_ALL": "C.UTF-8", "LANG": "en_US"}, nil},
		{"nothing", nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := localeLanguages(func(name string) string {
				return test.environment[name]
			}); !slices.Equal(got, test.want) {
				t.Errorf("languages: got %v, want %v", got, test.want)
			}
		})
	}
}
