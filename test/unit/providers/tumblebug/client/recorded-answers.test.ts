import assert from "node:assert/strict";
import { openTumblebug, type Tumblebug } from "../../../../../providers/tumblebug/client";
import { TumblebugRefusal } from "../../../../../providers/tumblebug/client/errors";
import type { Generation } from "../../../../../providers/tumblebug/plan/model";
import { CREDENTIAL, GENERATIONS, UNLIMITED } from "../../../../support/tumblebug";
import { readRecordings, type Recording } from "../../../../support/tumblebug-recordings";
import { TumblebugReplay } from "../../../../support/tumblebug-replay";
import { assertGolden } from "../../../golden";

/** How many recordings are replayed at a time, each by a server and to a client of its own. */
const TOGETHER = 20;

const CONNECTION = { name: "mock-config01", provider: "mock", regionName: "mock-region01" };
const GROUP = {
  ...{ name: "w-9", size: 1, connection: "c", spec: "s", image: "i", vNet: "v", subnet: "n" },
  ...{ securityGroups: ["g"], sshKey: "k", user: "u" },
};
const BALANCER = { group: "cp", port: 6443, targetPort: 6443 };

/** Sends a recorded request by the client; the parts are those of the path that the pattern takes out. */
type Call = (tumblebug: Tumblebug, parts: readonly [string, string, string]) => Promise<unknown>;

/** A kind of object by the word in the path. The client has no images in the newer generation. */
function kindOf(tumblebug: Tumblebug, type: string) {
  const { vNets, securityGroups, sshKeys, images, specs } = tumblebug;
  const kind = { vNet: vNets, securityGroup: securityGroups, sshKey: sshKeys, image: images, spec: specs }[
    type
  ];
  return kind as
    | {
        read: (namespace: string, id: string) => Promise<unknown>;
        create: (namespace: string, desired: object) => Promise<unknown>;
        delete: (namespace: string, id: string) => Promise<unknown>;
      }
    | undefined;
}

const DESIRED = {
  ...{ name: "x", connection: "c", cidr: "10.0.0.0/24", subnet: "s", vNet: "v", rules: [], user: "u" },
  ...{ cloudImage: "i", cloudSpec: "s" },
};

/** Every request that the client has. */
const CALLS: readonly (readonly [pattern: RegExp, call: Call])[] = [
  [/^POST \/ns$/, ({ namespaces }) => namespaces.create({ name: "x" })],
  [/^GET \/ns\/([^/]+)$/, ({ namespaces }, [name]) => namespaces.read(name)],
  [/^DELETE \/ns\/([^/]+)$/, ({ namespaces }, [name]) => namespaces.delete(name)],
  [/^GET \/connConfig\/(.+)$/, (tumblebug, [name]) => tumblebug.readConnection(name)],
  [/^GET \/region\/.+$/, (tumblebug) => tumblebug.readRegion(CONNECTION)],
  [/^POST \/lookupSpec$/, (tumblebug) => tumblebug.lookupSpec("c", "s")],
  [/^POST \/lookupImage$/, (tumblebug) => tumblebug.lookupImage("c", "i")],
  [
    /^GET \/ns\/([^/]+)\/resources\/(\w+)\/([^/]+)$/,
    async (tumblebug, [namespace, type, id]) => kindOf(tumblebug, type)?.read(namespace, id),
  ],
  [
    /^POST \/ns\/([^/]+)\/resources\/(\w+)(?:\?.*)?$/,
    async (tumblebug, [namespace, type]) => kindOf(tumblebug, type)?.create(namespace, DESIRED),
  ],
  [
    /^DELETE \/ns\/([^/]+)\/resources\/(\w+)\/([^/?]+)(?:\?.*)?$/,
    async (tumblebug, [namespace, type, id]) => kindOf(tumblebug, type)?.delete(namespace, id),
  ],
  [
    /^GET \/ns\/([^/]+)\/(?:mcis|infra)\/([^/?]+)$/,
    ({ infrastructures }, [namespace, id]) => infrastructures.read(namespace, id),
  ],
  [
    /^POST \/ns\/([^/]+)\/(?:mcis|infra)$/,
    ({ infrastructures }, [namespace]) => infrastructures.create(namespace, { name: "k1", groups: [] }),
  ],
  [
    /^DELETE \/ns\/([^/]+)\/(?:mcis|infra)\/([^/?]+)$/,
    ({ infrastructures }, [namespace, id]) => infrastructures.delete(namespace, id),
  ],
  [
    /^DELETE \/ns\/([^/]+)\/(?:mcis|infra)\/([^/?]+)\?option=force$/,
    ({ infrastructures }, [namespace, id]) => infrastructures.delete(namespace, id, { force: true }),
  ],
  [
    /^GET \/ns\/([^/]+)\/control\/(?:mcis|infra)\/([^/?]+)\?action=terminate(&force=true)?$/,
    ({ infrastructures }, [namespace, id, force]) =>
      infrastructures.terminate(namespace, id, { force: force !== undefined }),
  ],
  [
    /^GET \/ns\/([^/]+)\/(?:mcis|infra)\/([^/]+)\/(?:vm|node)\/([^/]+)$/,
    ({ infrastructures }, parts) => infrastructures.readMachine(...parts),
  ],
  [
    /^POST \/ns\/([^/]+)\/(?:mcis|infra)\/([^/]+)\/(?:vm|node)$/,
    ({ infrastructures }, [namespace, id]) => infrastructures.addGroup(namespace, id, GROUP),
  ],
  [
    /^DELETE \/ns\/([^/]+)\/(?:mcis|infra)\/([^/]+)\/(?:vm|node)\/([^/]+)$/,
    ({ infrastructures }, parts) => infrastructures.deleteMachine(...parts),
  ],
  [
    /^GET \/ns\/([^/]+)\/(?:mcis|infra)\/([^/]+)\/nlb\/([^/]+)$/,
    ({ loadBalancers }, parts) => loadBalancers.read(...parts),
  ],
  [
    /^POST \/ns\/([^/]+)\/(?:mcis|infra)\/([^/]+)\/nlb$/,
    ({ loadBalancers }, [namespace, id]) => loadBalancers.create(namespace, id, BALANCER),
  ],
  [
    /^POST \/ns\/([^/]+)\/(?:mcis|infra)\/([^/]+)\/nlb\/([^/]+)\/(?:vm|node)$/,
    ({ loadBalancers }, parts) => loadBalancers.addMachines(...parts, ["cp-1"]),
  ],
  [
    /^DELETE \/ns\/([^/]+)\/(?:mcis|infra)\/([^/]+)\/nlb\/([^/]+)\/(?:vm|node)$/,
    ({ loadBalancers }, parts) => loadBalancers.removeMachines(...parts, ["cp-4"]),
  ],
  [
    /^DELETE \/ns\/([^/]+)\/(?:mcis|infra)\/([^/]+)\/nlb\/([^/]+)$/,
    ({ loadBalancers }, parts) => loadBalancers.delete(...parts),
  ],
];

/** Requests that the client sends only behind another one, and those that it never sends. */
const NOT_SENT: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/\/check(Infra|Mcis|Resource|Node|Vm)\//, "a check, which follows a refusal"],
  [/\/nlb\?option=id$/, "a list, which follows a refusal"],
  [/\/rules$/, "the client goes by what it reads before and after, which was not recorded"],
  [/^GET \/ns$/, "the client does not list namespaces"],
  [/^POST \/lookupImages$/, "the client does not list the cloud's images"],
  [/\?option=status$/, "the client reads the whole infrastructure"],
  [/\?option=terminate$/, "the client terminates and deletes in two requests"],
  [/\/control\/.*\?action=(?!terminate)/, "the client has no other action than to terminate"],
  [/^POST .*\/(?:subgroup|nodegroup)\//, "the client adds VMs to a group as it adds the group"],
  [/^GET \/ns\/[^/]+\/resources\/\w+$/, "a list, which the client reads for several objects"],
];

for (const generation of GENERATIONS)
  describe(`The client, given the recorded answers of a real Tumblebug (${generation})`, () => {
    const recordings = readRecordings(generation);

    it("reads each of them as reviewed", async function () {
      this.timeout(120_000);
      const lines: string[] = [];
      // some refusals are waited out for a while
      for (let first = 0; first < recordings.length; first += TOGETHER)
        lines.push(
          ...(await Promise.all(
            recordings.slice(first, first + TOGETHER).map((each) => reading(generation, recordings, each)),
          )),
        );
      assertGolden(`tumblebug-recorded-${generation}.txt`, `${lines.join("\n")}\n`);
    });

    it("has a call for each of them, or a reason why not", () => {
      const without = recordings.filter(
        ({ method, path }) => ![...CALLS, ...NOT_SENT].some(([pattern]) => pattern.test(`${method} ${path}`)),
      );
      assert.deepEqual(
        without.map(({ line, path }) => `${line} ${path}`),
        [],
      );
    });
  });

/** Lines after which the client reads the whole infrastructure, as it was not recorded then. */
const UNFINISHED: Readonly<Record<Generation, readonly number[]>> = { mcis: [96], infra: [161] };

/** A recorded request, and what the client makes of its answer: on two lines, with what it asked besides. */
async function reading(
  generation: Generation,
  recordings: readonly Recording[],
  recording: Recording,
): Promise<string> {
  const { line, method, path, status } = recording;
  if (UNFINISHED[generation].includes(line))
    return `${line} ${method} ${path} ${status}\n  not replayed: what the client reads next was not recorded`;
  const replay = await TumblebugReplay.start(recordings, recording);
  const tumblebug = await openTumblebug(
    { address: replay.address, ...CREDENTIAL, generation },
    { seconds: 2, longSeconds: 2, looking: { milliseconds: 1, times: 1 }, limits: UNLIMITED },
  );
  try {
    return `${line} ${method} ${path} ${status}\n  ${await readBy(tumblebug, replay, `${method} ${path}`)}`;
  } finally {
    tumblebug.close();
    await replay.close();
  }
}

async function readBy(tumblebug: Tumblebug, replay: TumblebugReplay, request: string): Promise<string> {
  const notSent = NOT_SENT.find(([pattern]) => pattern.test(request));
  if (notSent !== undefined) return `not sent: ${notSent[1]}`;
  const [pattern, call] = CALLS.find(([each]) => each.test(request)) as (typeof CALLS)[number];
  const [, ...parts] = (pattern.exec(request) ?? []) as string[];
  const read = await call(tumblebug, parts as [string, string, string]).then(inWords, (error: unknown) =>
    error instanceof TumblebugRefusal
      ? `refused ${error.code}: ${error.remote.slice(0, 200).replaceAll("\n", " ")}`
      : `${(error as Error).name}: ${(error as Error).message.slice(0, 200)}`,
  );
  const further = replay.further.length === 0 ? "" : ` (then ${[...new Set(replay.further)].join(", ")})`;
  return replay.isPlayed
    ? `${read}${further}`
    : "not sent: the client has no such request in this generation";
}

function inWords(value: unknown): string {
  if (value === undefined) return "nothing";
  const { machines } = value as { machines?: unknown[] };
  if (machines?.every((each) => typeof each === "object") !== true) return JSON.stringify(value);
  const vms = (machines as { name: string; status: string; targetAction: string; systemMessage: string }[])
    // the last VM of an answer that was cut has no status
    .filter(({ status }) => status !== "")
    .map(
      ({ name, status, targetAction, systemMessage }) =>
        `${name} ${status}/${targetAction}${systemMessage === "" ? "" : ` "${systemMessage.slice(0, 60)}"`}`,
    );
  return `${(value as { status: string }).status}: ${vms.join(", ")}`;
}
