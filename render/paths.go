package render

import (
	"encoding/json"
	"reflect"
	"strings"

	"fundesk/apiclient/apitype"
)

// pathColumn returns the column of any path of the JSON of a record: a member, or one of an object in it. ok is false
// if records have no such path.
func pathColumn[T any](path string) (c Column[T], ok bool) {
	names := strings.Split(path, ".")
	_, ok = valueAt(reflect.Zero(reflect.TypeFor[T]()), names)
	at := func(record T) any {
		value, _ := valueAt(reflect.ValueOf(record), names)
		return value
	}
	return Column[T]{
		Name:     path,
		Flexible: true,
		Value:    func(record T) string { return FieldText(at(record)) },
		IsNumber: func(record T) bool { return isNumber(at(record)) },
	}, ok
}

// isNumber reports whether a value is a number in JSON.
func isNumber(value any) bool {
	switch value.(type) {
	case apitype.Amount, apitype.Number, json.Number, int, int64, float64:
		return true
	default:
		return false
	}
}

// listIn returns the part of a path that is a list in the JSON of a record, or an empty text.
func listIn[T any](path string) string {
	names := strings.Split(path, ".")
	for n := 1; n < len(names); n++ {
		value, known := valueAt(reflect.Zero(reflect.TypeFor[T]()), names[:n])
		if known && value != nil && reflect.TypeOf(value).Kind() == reflect.Slice {
			return strings.Join(names[:n], ".")
		}
	}
	return ""
}

// HasPath reports whether records of a type may have something at a path of their JSON.
func HasPath[T any](path string) bool {
	_, has := pathColumn[T](path)
	return has
}

// valueAt returns the value at a path, or nil if it is missing. known is false if no value of this type has the path.
func valueAt(v reflect.Value, path []string) (value any, known bool) {
	v = inside(v)
	if len(path) == 0 {
		if v.IsValid() && v.IsZero() && v.Kind() == reflect.Struct {
			return nil, true
		}
		return v.Interface(), true
	}
	if object, isObject := reflect.TypeAssert[apitype.Object](v); isObject { // Whatever is in it.
		var members map[string]any
		_ = apitype.DecodeExact(object, &members) // Checked when it was read; what is not there has none.
		return memberAt(members, path), true
	}
	if v.Kind() != reflect.Struct {
		return nil, false
	}
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); name == path[0] {
			return valueAt(v.Field(i), path[1:])
		}
	}
	return nil, false
}

// inside returns the value of a pointer or an embedded part, or its zero value.
func inside(v reflect.Value) reflect.Value {
	if part, isPart := reflect.TypeAssert[interface{ Part() any }](v); isPart {
		v = reflect.ValueOf(part.Part())
	}
	if v.Kind() != reflect.Pointer {
		return v
	}
	if v.IsNil() {
		return reflect.Zero(v.Type().Elem())
	}
	return v.Elem()
}

func memberAt(members map[string]any, path []string) any {
	value := members[path[0]]
	for _, name := range path[1:] {
		inner, _ := value.(map[string]any)
		value = inner[name]
	}
	return value
}

// paths returns the paths of the JSON of a type, down to objects in objects.
func paths(t reflect.Type, depth int) []string {
	t = inside(reflect.Zero(t)).Type()
	if t.Kind() != reflect.Struct {
		return nil
	}
	var all []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		all = append(all, name)
		if depth > 0 {
			for _, below := range paths(t.Field(i).Type, depth-1) {
				all = append(all, name+"."+below)
			}
		}
	}
	return all
}
