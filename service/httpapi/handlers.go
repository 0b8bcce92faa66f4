package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// A handler answers for one operation, and holds what openapi.json is generated from.
type handler struct {
	serve   func(w *recorder, r *http.Request, c service.Caller) error // An error is written as a problem.
	status  int                                                        // Of an answer with a body.
	options any                                                        // A value of the type of its parameters, or nil.
	body    any                                                        // A value of the type of its body, or nil.

	readsIfMatch     bool
	readsLeaseFor    bool
	readsIfNoneMatch bool // A caller that has the answer already gets 304.
	isGuarded        bool // It checks more permissions than the one of its route.
}

// list answers with a page: parse reads the options from the query, and what refuses them to a
// caller comes before what is wrong with them. Spec gap: R3.
func list[O any](
	parse func(url.Values) (O, apitype.Violations),
	page func(context.Context, service.Caller, O) (service.Answer, error),
	allow ...func(service.Caller, O) error,
) handler {
	serve := func(w *recorder, r *http.Request, c service.Caller) error {
		values, err := query(r)
		if err != nil {
			return err
		}
		options, violations := parse(values)
		for _, allow := range allow {
			if err := allow(c, options); err != nil {
				return err
			}
		}
		if err := service.NotValid(violations); err != nil {
			return err
		}
		if isLargePage(values) {
			if err := w.pass.page(); err != nil {
				return err
			}
		}
		answer, err := page(r.Context(), c, options)
		return respond(w, http.StatusOK, answer, err)
	}
	return handler{serve: serve, status: http.StatusOK, options: *new(O)}
}

// largePage is the requested number of records from which a page waits for its turn.
const largePage = 200

// isLargePage reports whether the page of a query is so large that it waits for its turn.
func isLargePage(values url.Values) bool {
	size, err := strconv.Atoi(cmp.Or(values.Get("first"), values.Get("last")))
	return err == nil && size >= largePage
}

func get(one func(context.Context, service.Caller, apitype.UUID) (service.Answer, error)) handler {
	serve := func(w *recorder, r *http.Request, c service.Caller) error {
		id, err := pathUUID(r)
		if err != nil {
			return err
		}
		answer, err := one(r.Context(), c, id)
		if err == nil && answer.Stream != nil {
			return stream(w, r, answer)
		}
		return respond(w, http.StatusOK, answer, err)
	}
	return handler{serve: serve, status: http.StatusOK}
}

// getUnlessSame returns get for a record whose revision covers the whole answer. Calls and pledges embed the person,
// whose revision is another one.
func getUnlessSame(one func(context.Context, service.Caller, apitype.UUID) (service.Answer, error)) handler {
	serve := func(w *recorder, r *http.Request, c service.Caller) error {
		id, err := pathUUID(r)
		if err != nil {
			return err
		}
		answer, err := one(r.Context(), c, id)
		return respondUnlessSame(w, r, answer, err)
	}
	return handler{serve: serve, status: http.StatusOK, readsIfNoneMatch: true}
}

// respondUnlessSame answers with a record, or with 304 if the caller already has it.
func respondUnlessSame(w http.ResponseWriter, r *http.Request, answer service.Answer, err error) error {
	if err == nil && answer.Rev > 0 && isSame(r, answer.Rev) {
		w.Header()["Etag"] = entityTag(answer.Rev)
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return respond(w, http.StatusOK, answer, err)
}

// read answers an operation without parameters, with 304 if the caller already has the answer.
func read(answers func(context.Context, service.Caller) (service.Answer, error)) handler {
	serve := func(w *recorder, r *http.Request, c service.Caller) error {
		if err := service.NotValid(noParameters(r)); err != nil {
			return err
		}
		answer, err := answers(r.Context(), c)
		return respondUnlessSame(w, r, answer, err)
	}
	return handler{serve: serve, status: http.StatusOK, readsIfNoneMatch: true}
}

func act[T any](status int, do func(context.Context, service.Caller, T) (service.Answer, error)) handler {
	serve := func(w *recorder, r *http.Request, c service.Caller) error {
		if err := service.NotValid(noParameters(r)); err != nil {
			return err
		}
		request, err := decode[T](w, r)
		if err != nil {
			return err
		}
		answer, err := do(r.Context(), c, request)
		return respond(w, status, answer, err)
	}
	return handler{serve: serve, status: status, body: *new(T)}
}

func create[T any](save func(context.Context, service.Caller, T) (service.Answer, error)) handler {
	return act(http.StatusCreated, save)
}

// actOn does what the body asks for with the record of the path.
func actOn[T any](do func(context.Context, service.Caller, apitype.UUID, T) (service.Answer, error)) handler {
	return actOnAs(http.StatusOK, do)
}

// createFor adds what the body describes to the record of the path.
func createFor[T any](save func(context.Context, service.Caller, apitype.UUID, T) (service.Answer, error)) handler {
	return actOnAs(http.StatusCreated, save)
}

func actOnAs[T any](
	status int,
	do func(context.Context, service.Caller, apitype.UUID, T) (service.Answer, error),
) handler {
	serve := func(w *recorder, r *http.Request, c service.Caller) error {
		id, err := pathUUID(r)
		if err != nil {
			return err
		}
		request, err := decode[T](w, r)
		if err != nil {
			return err
		}
		answer, err := do(r.Context(), c, id, request)
		return respond(w, status, answer, err)
	}
	return handler{serve: serve, status: status, body: *new(T)}
}

// change applies the body to the record of the path, if the record has a revision that the change is meant for.
func change[T any](
	save func(context.Context, service.Caller, apitype.UUID, service.Match, T) (service.Answer, error),
) handler {
	serve := func(w *recorder, r *http.Request, c service.Caller) error {
		return actOn(func(ctx context.Context, c service.Caller, id apitype.UUID, request T) (service.Answer, error) {
			return save(ctx, c, id, match(r), request)
		}).serve(w, r, c)
	}
	return handler{
		serve:        serve,
		status:       http.StatusOK,
		body:         *new(T),
		readsIfMatch: true,
	}
}

// listOf answers with a list that belongs to the record of the path.
func listOf[O any](
	parse func(url.Values) (O, apitype.Violations),
	one func(context.Context, service.Caller, apitype.UUID, O) (service.Answer, error),
) handler {
	serve := func(w *recorder, r *http.Request, c service.Caller) error {
		values, err := query(r)
		if err != nil {
			return err
		}
		options, violations := parse(values)
		id, err := apitype.ParseUUID(r.PathValue("uuid"))
		if err != nil {
			violations = append(violations, apitype.Violation{Parameter: "uuid", Message: err.Error()})
		}
		if err := service.NotValid(violations); err != nil {
			return err
		}
		answer, err := one(r.Context(), c, id, options)
		return respond(w, http.StatusOK, answer, err)
	}
	return handler{serve: serve, status: http.StatusOK, options: *new(O)}
}

// describeAttempt changes the attempt of a time of the call of the path.
func describeAttempt(
	save func(
		context.Context,
		service.Caller,
		apitype.UUID,
		apitype.Time,
		apitype.AttemptReasonRequest,
	) (service.Answer, error),
) handler {
	act := actOn[apitype.AttemptReasonRequest](nil)
	act.serve = func(w *recorder, r *http.Request, c service.Caller) error {
		at, err := apitype.ParseTime(r.PathValue("attemptAt"))
		if err != nil {
			return service.NotValid(apitype.Violations{{Parameter: "attemptAt", Message: err.Error()}})
		}
		return actOn(func(
			ctx context.Context,
			c service.Caller,
			id apitype.UUID,
			request apitype.AttemptReasonRequest,
		) (service.Answer, error) {
			return save(ctx, c, id, at, request)
		}).serve(w, r, c)
	}
	return act
}
