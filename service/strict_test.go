package service

import (
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
)

// TestDecodeStrict lists the place of each kind of mistake. No message holds the value.
func TestDecodeStrict(t *testing.T) {
	t.Parallel()
	const secret = "S3CR3T"
	tests := []struct{ name, body, pointer, message string }{
		{"good", `{"iban":"` + secret + `"}`, "", ""},
		{"unknown", `{"` + secret + `":1}`, "/" + secret, "is not a known field"},
		{"unknown inside", `{"name":{"middle":"x"}}`, "/name/middle", "is not a known field"},
		{"twice", `{"iban":"a","iban":"` + secret + `"}`, "/iban", "is given twice"},
		{"twice inside", `{"name":{"initials":"a","initials":"b"}}`, "/name/initials", "is given twice"},
		{"number for text", `{"iban":55501}`, "/iban", "must be a string"},
		{"text for object", `{"name":"` + secret + `"}`, "/name", "must be a JSON object"},
		{"text for truth", `{"optIns":{"sms":"` + secret + `"}}`, "/optIns/sms", "must be true or false"},
		{
			name:    "bad time",
			body:    `{"mandate":{"createdAt":"` + secret + `"}}`,
			pointer: "/mandate/createdAt",
			message: "is not an RFC 3339 time such as 2026-11-20T09:15:00Z, nor a date such as 2026-11-20",
		},
		{"number for time", `{"mandate":{"createdAt":55501}}`, "/mandate/createdAt", "must be a string"},
		{"bad date", `{"dateOfBirth":"` + secret + `"}`, "/dateOfBirth", "is not a date such as 1980-05-17"},
		{"trailing", `{} ` + secret, "", "is not valid JSON in UTF-8"},
		{"cut", `{"iban":"` + secret, "/iban", "is not valid JSON in UTF-8"},
		{"bad UTF-8", "{\"iban\":\"\xff\"}", "/iban", "is not valid JSON in UTF-8"},
		{"lone surrogate", `{"iban":"\ud800"}`, "/iban", "is not valid JSON in UTF-8"},
		{"NUL", `{"iban":"a\u0000b"}`, "/iban", "must not contain a NUL character"},
		{"text of a NUL", `{"iban":"a\\u0000b"}`, "", ""},
		{"array", `[]`, "", "must be a JSON object"},
		{"null", `null`, "", "the body must be a JSON object"},
		{
			name:    "deep arrays",
			body:    `{"a":` + strings.Repeat(`[`, 64) + strings.Repeat(`]`, 64) + `}`,
			pointer: "/a" + strings.Repeat("/0", 63),
			message: "is nested too deeply",
		},
		{
			name:    "as deep as may be",
			body:    `{"a":` + strings.Repeat(`[`, 63) + strings.Repeat(`]`, 63) + `}`,
			pointer: "/a",
			message: "is not a known field",
		},
		{
			name:    "deep",
			body:    strings.Repeat(`{"a":`, 65) + `1` + strings.Repeat(`}`, 65),
			pointer: strings.Repeat("/a", 64),
			message: "is nested too deeply",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var request apitype.UpdatePersonRequest
			v := DecodeStrict([]byte(test.body), &request)
			if test.message == "" {
				if len(v) > 0 {
					t.Errorf("got %v, want none", v)
				}
				return
			}
			if len(v) != 1 || v[0].Pointer != test.pointer || v[0].Message != test.message {
				t.Fatalf("got %q, want %q %q", v, test.pointer, test.message)
			}
			if strings.Contains(v[0].Message, secret) || strings.Contains(v[0].Message, "55501") {
				t.Errorf("the message %q repeats the value", v[0].Message)
			}
		})
	}
}

func TestDecodeStrictNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, pointer, message string }{
		{"fraction for a day", `{"preferredPaymentDay":1.5}`, "/preferredPaymentDay", "must be a whole number"},
		{"text for a day", `{"preferredPaymentDay":"9"}`, "/preferredPaymentDay", "must be a whole number"},
		{"huge day", `{"preferredPaymentDay":99999999999999999999}`, "/preferredPaymentDay", "must be a whole number"},
		{"text for an amount", `{"initialDonationAmount":"9"}`, "/initialDonationAmount", "is not a JSON number"},
		{"text for metadata", `{"externalMetadata":"9"}`, "/externalMetadata", "must be a JSON object"},
		{
			name:    "bad uuid in an array",
			body:    `{"focusAreaUuids":["9"]}`,
			pointer: "/focusAreaUuids/0",
			message: "is not a UUID in its canonical form (8-4-4-4-12 hexadecimal digits)",
		},
		{"number for a uuid", `{"focusAreaUuids":[9]}`, "/focusAreaUuids/0", "must be a string"},
		{"array for metadata", `{"externalMetadata":[]}`, "/externalMetadata", "must be a JSON object"},
		{"truth for an amount", `{"initialDonationAmount":true}`, "/initialDonationAmount", "is not a JSON number"},
		{"array for a time", `{"startsAt":[]}`, "/startsAt", "must be a string"},
		{"object for an array", `{"focusAreaUuids":{}}`, "/focusAreaUuids", "must be an array"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var request apitype.CreatePledgeRequest
			v := DecodeStrict([]byte(test.body), &request)
			if len(v) != 1 || v[0].Pointer != test.pointer || v[0].Message != test.message {
				t.Errorf("got %q, want %q %q", v, test.pointer, test.message)
			}
		})
	}
}

// A whole number is one in each form that JSON has for it, as openapi.json says.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"15", "15.0", "1.5e1", "1500E-2"} {
		var request apitype.CreatePledgeRequest
		v := DecodeStrict([]byte(`{"preferredPaymentDay":`+text+`}`), &request)
		day := request.PreferredPaymentDay
		if len(v) > 0 || day == nil || *day != 15 {
			t.Errorf("%s: got %v and %q, want 15", text, day, v)
		}
	}
	var request apitype.CreatePledgeRequest
	v := DecodeStrict([]byte(`{"preferredPaymentDay":null}`), &request)
	if len(v) > 0 || request.PreferredPaymentDay != nil {
		t.Errorf("null: got %v and %q, want none", request.PreferredPaymentDay, v)
	}
}

// TestDecodeStrictPlaces shows that what is refused in the whole text is placed too.
func TestDecodeStrictPlaces(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct{ name, body, pointer, message string }{
		{"NUL in a text", `{"uuid":null,"notes":"a\u0000b"}`, "/notes", "must not contain a NUL character"},
		{
			name:    "NUL in a nested text",
			body:    `{"externalMetadata":{"additionalProperties":{"a":[1,{"b/c":"\u0000"}]}}}`,
			pointer: "/externalMetadata/additionalProperties/a/1/b~1c",
			message: "must not contain a NUL character",
		},
		{
			name:    "NUL in a name",
			body:    `{"externalMetadata":{"additionalProperties":{"a\u0000":1}}}`,
			pointer: "/externalMetadata/additionalProperties",
			message: "must not contain a NUL character",
		},
		{"a backslash before u0000", `{"notes":"\\u0000"}`, "", ""},
		{
			name:    "too deep",
			body:    `{"externalMetadata":{"additionalProperties":{"x":` + deep(62) + `}}}`,
			pointer: "/externalMetadata/additionalProperties/x" + strings.Repeat("/0", 61),
			message: "is nested too deeply",
		},
		{"just not too deep", `{"externalMetadata":{"additionalProperties":{"x":` + deep(61) + `}}}`, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var request apitype.CreateCallRequest
			v := DecodeStrict([]byte(test.body), &request)
			switch {
			case test.message == "" && len(v) > 0:
				t.Errorf("got %q, want none", v)
			case test.message != "" && (len(v) != 1 || v[0].Pointer != test.pointer || v[0].Message != test.message):
				t.Errorf("got %q, want %q %q", v, test.pointer, test.message)
			}
		})
	}
}

func FuzzDecodeStrict(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"uuid":"a","externalMetadata":{"additionalProperties":"{\"a\":1}"},"attempts":[{"createdAt":"2026-11-20"}]}`,
		`{"result":{"donorRetentionRating":1e400}}`, `{"requestedAt":"9999-12-31T23:59:59-24:00"}`,
		"{\"notes\":\"\\u0000\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var call apitype.CreateCallRequest
		if len(DecodeStrict(body, &call)) == 0 && len(call.Validate()) == 0 {
			row := CallRow{}
			if err := row.write(newCall(apitype.NewUUID(), call, testNow)); err != nil {
				t.Errorf("an accepted call cannot be kept: %v", err)
			}
			var again apitype.Call
			if err := decode("call", row.Doc, &again); err != nil {
				t.Errorf("a kept call cannot be read: %v", err)
			}
		}
		var pledge apitype.CreatePledgeRequest
		if len(DecodeStrict(body, &pledge)) == 0 {
			_ = pledge.Validate(testNow.Time)
		}
		var person apitype.UpdatePersonRequest
		if len(DecodeStrict(body, &person)) == 0 {
			_ = person.Validate(testNow.Time)
		}
	})
}

// A NUL in a text that is kept as it came is found however it is escaped, and nothing else is taken for one.
func TestHasNUL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		``:                               false,
		`u0000`:                          false,
		`\u0000`:                         true,
		`\\u0000`:                        false,
		`\\\u0000`:                       true,
		`{"u0000":"\\u0000u0000\u0000"}`: true,
		`{"a":"\u0001"}`:                 false,
	} {
		if got := hasNUL([]byte(text)); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}
