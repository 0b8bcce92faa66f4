package queue

import (
	"maps"
	"os"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/say"
)

// FilterText returns which calls a filter lets through, or an empty text for all.
func FilterText(texts say.Texts, filter apitype.QueueFilter) string {
	var types, languages []string
	for _, kind := range filter.Types {
		types = append(types, texts.Say(render.Words(string(kind))))
	}
	for _, language := range filter.Languages {
		languages = append(languages, texts.Say(render.Language(language)))
	}
	parts := []string{strings.Join(types, ", "), strings.Join(languages, ", ")}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}

// KnownLanguages returns the languages that an agent may choose: those of a filter, the agent's own and those of the
// queue. An agent without languages has those of the locale. state may be nil.
func KnownLanguages(filter apitype.QueueFilter, own []string, state *apitype.QueueState) []string {
	if own == nil {
		own = localeLanguages(os.Getenv)
	}
	known := slices.Concat(filter.Languages, own)
	if state != nil {
		known = slices.AppendSeq(known, maps.Keys(state.ByLanguage))
	}
	slices.Sort(known)
	return slices.DeleteFunc(slices.Compact(known), func(language string) bool { return language == "" })
}

// localeLanguages returns the languages of the environment, by LANGUAGE or the locale. A locale such as C has none.
func localeLanguages(getenv func(string) string) []string {
	for _, name := range []string{"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"} {
		var found []string
		for tag := range strings.SplitSeq(getenv(name), ":") {
			if len(tag) == 2 || (len(tag) > 2 && strings.ContainsAny(tag[2:3], "_-.@")) {
				if code := strings.ToLower(tag[:2]); !slices.Contains(found, code) {
					found = append(found, code)
				}
			}
		}
		if getenv(name) != "" {
			return found
		}
	}
	return nil
}
