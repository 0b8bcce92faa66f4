package httpapi

// Announced is the header with the extensions that every account sees.
var Announced = extensionHeader[0]

// Routes returns the methods and paths that the handler has, for tests.
func Routes() []string {
	a := &api{}
	var routes []string
	for _, r := range a.operations() {
		routes = append(routes, r.method+" "+r.path)
	}
	return routes
}
