// A night and a day with the service. The types are those of openapi.json: a field that is misspelt, or
// of the wrong kind, does not compile.
import { randomUUID } from "node:crypto";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./openapi.js";

type Person = components["schemas"]["Person"];
type Problem = components["schemas"]["Problem"];

/** What the service says of a request that it refuses, or what came in the place of an answer. */
class Refused extends Error {
  constructor(readonly status: number, text: string) {
    super(text);
  }
}

/** Turns every answer that is not a success into an error. */
const refusals: Middleware = {
  async onResponse({ response }) {
    if (response.ok) return;
    const text = await response.text();
    if (!response.headers.get("Content-Type")?.includes("json")) {
      throw new Refused(response.status, `${response.status} ${response.statusText}`); // A proxy's page.
    }
    const problem = JSON.parse(text) as Partial<Problem>;
    const places = (problem.errors ?? []).map((e) => `${e.pointer ?? e.parameter}: ${e.message}`);
    throw new Refused(response.status, `${response.status} ${problem.title ?? ""} ${places.join("; ")}`);
  },
};

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

const client = createClient<paths>({
  baseUrl: setting("FUNDESK_BASE_URL"),
  headers: { Authorization: `Bearer ${setting("FUNDESK_TOKEN")}` },
});
client.use(refusals);

/** The persons of a list, page by page. */
async function* pages(createdAfter?: string): AsyncGenerator<Person[]> {
  for (let after: string | undefined; ; ) {
    const { data } = await client.GET("/api/v1/persons", { params: { query: { first: 500, after, createdAfter } } });
    yield data!.edges.map((edge) => edge.node);
    if (!data!.pageInfo.hasNextPage) return;
    after = data!.pageInfo.endCursor ?? undefined;
  }
}

/** The text of a file that may not be there. */
async function kept(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Writes the persons who are new since the last time, and is how many. Each page is written, then marked
 * as processed. The time at which this run began is kept when the last page is, less what clocks may
 * differ by: a person may come twice, and none is missed.
 */
async function pull(since: string, file: string): Promise<number> {
  const began = new Date(Date.now() - 2 * 60_000).toISOString();
  let count = 0;
  for await (const persons of pages(await kept(since))) {
    await appendFile(file, persons.map((person) => JSON.stringify(person) + "\n").join(""));
    if (persons.length > 0) {
      const processedAt = new Date().toISOString();
      await client.POST("/api/v1/entity-access/actions/mark-processed", {
        body: { entries: persons.map(({ uuid }) => ({ entityName: "person" as const, entityUuid: uuid, processedAt })) },
      });
    }
    count += persons.length;
  }
  await writeFile(since, began);
  return count;
}

/** Creates a pledge, and is its amount as the service keeps it. */
async function pledge(person: Person, amount: number): Promise<number> {
  const organization = person.owningOrganization!.uuid;
  const now = new Date().toISOString();
  const { data } = await client.POST("/api/v1/pledges", {
    body: {
      uuid: randomUUID(), personUuid: person.uuid, createdAt: now, startsAt: now, recruiterUserUuid: randomUUID(),
      owningOrganizationUuid: organization, recruitingOrganizationUuid: organization,
      initialDonationAmount: amount, initialDonationInterval: "once",
    },
  });
  return data!.donationAmount;
}

console.log(await pull("since", "persons.ndjson"), "persons");

const { data: newest } = await client.GET("/api/v1/persons", { params: { query: { first: 1 } } });
const person = newest!.edges[0]!.node;

// The uuid is ours, so that the creation can be sent again when its answer is lost.
const uuid = randomUUID();
const path = { uuid };
const now = new Date().toISOString();
await client.POST("/api/v1/calls", { body: { uuid, personUuid: person.uuid, type: "happy_call", requestedAt: now } });
await client.PUT("/api/v1/calls/{uuid}/actions/add-attempt", { params: { path }, body: { attemptAt: now } });
const { data: done } = await client.PUT("/api/v1/calls/{uuid}/actions/complete", {
  params: { path },
  body: { result: { resultCode: "thanked", donorRetentionRating: 9 } },
});
// An account that may not read calls gets the uuid and the revision alone.
console.log("call", "status" in done! ? done.status : "changed");
console.log("pledge", await pledge(person, 262144.13));

try {
  await client.PUT("/api/v1/persons/{uuid}/actions/update", { params: { path: { uuid: person.uuid } }, body: { email: "nobody" } });
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.error(error.message);
  console.log("refused");
}
