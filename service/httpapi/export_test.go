package httpapi

// Routes are the methods and paths that the handler has, for tests.
func Routes() (routes []string) {
	a := &api{}
	for _, group := range [][]route{a.personRoutes(), a.callRoutes(), a.pledgeRoutes(), a.entityAccessRoutes(), a.queueRoutes(), a.privacyRoutes()} {
		for _, r := range group {
			routes = append(routes, r.method+" "+r.path)
		}
	}
	return routes
}
