import assert from "node:assert/strict";
import { GENERATIONS } from "../../../support/tumblebug";
import { MOCK_SETTINGS } from "../../../support/tumblebug-mock-clouds";
import { readRecordings, type Recording } from "../../../support/tumblebug-recordings";
import { differences } from "../../../support/tumblebug-shapes";
import { NOT_COMPARED, UNRECORDED } from "./recorded-sessions";
import { RawTumblebug, type WireAnswer } from "./requests";

/** A recorded call that took this long blocked; others answered as fast as the machine could. */
const BLOCKING_MILLISECONDS = 5000;
/** How far a blocked call may be from its recording: most of the recorded waits have a random part. */
const [SHORTEST, LONGEST] = [0.4, 2.5];

for (const generation of GENERATIONS)
  describe(`The simulated Tumblebug, sent each request that was recorded from a real one (${generation})`, () => {
    let server: RawTumblebug;
    let blocked = 0;

    before(async () => {
      server = await RawTumblebug.open(generation, {
        ...MOCK_SETTINGS[generation],
        pace: 1,
        wait: (milliseconds) => {
          blocked += milliseconds;
          return Promise.resolve();
        },
      });
    });
    after(() => server.close());

    const reasons = NOT_COMPARED[generation];
    for (const recording of readRecordings(generation)) {
      const { line, method, path, status } = recording;
      const reason = reasons.find((each) => each.line === line)?.reason;
      it(`answers line ${line} as recorded: ${status} to ${method} ${path}${reason === undefined ? "" : ` (not compared: ${reason})`}`, async () => {
        await UNRECORDED[generation].find((each) => each.before === line)?.act(server);
        blocked = 0;
        const answer = await ask(server, recording);
        if (reason !== undefined) return;
        assert.equal(answer.status, status, answer.text);
        assert.deepEqual(differences(JSON.parse(recording.marked), JSON.parse(answer.text)), []);
        assertDuration(recording, blocked);
      });
    }

    it("leaves out only lines that differ: a line that agrees must not be listed", async () => {
      const again = await RawTumblebug.open(generation, {
        ...MOCK_SETTINGS[generation],
      });
      const agreeing: number[] = [];
      for (const recording of readRecordings(generation)) {
        await UNRECORDED[generation].find((each) => each.before === recording.line)?.act(again);
        const answer = await ask(again, recording);
        const isLeftOut = reasons.some(({ line }) => line === recording.line);
        if (isLeftOut && isAlike(recording, answer)) agreeing.push(recording.line);
      }
      await again.close();
      assert.deepEqual(agreeing, []);
    });
  });

describe("The comparison with recordings", () => {
  const cases: readonly [says: string, recorded: unknown, simulated: unknown, difference: RegExp][] = [
    ["a field that is missing", { id: "a", x: 1 }, { id: "a" }, /\.x: was recorded, and is missing/],
    ["a field that was not recorded", { id: "a" }, { id: "a", y: 1 }, /\.y: was not recorded/],
    ["another type", { sshPort: "22" }, { sshPort: 22 }, /\.sshPort: string was recorded, and not number/],
    ["null for a list", { node: null }, { node: [] }, /\.node: null was recorded, and not list/],
    [
      "other words",
      { message: "exists" },
      { message: "is there" },
      /"exists" was recorded, and not "is there"/,
    ],
    ["an address for none", { publicIP: "" }, { publicIP: "192.0.2.1" }, /\.publicIP: "" was recorded/],
    ["one item less", [{ id: "a" }, { id: "b" }], [{ id: "a" }], /2 items were recorded, and not 1/],
    ["another item", [{ id: "a" }], [{ id: "b" }], /object was recorded, and not undefined/],
  ];
  for (const [says, recorded, simulated, difference] of cases)
    it(`finds ${says}`, () => {
      assert.match(differences(recorded, simulated).join("\n"), difference);
    });

  it("treats names that differ in every run, and an irrelevant order, as equal", () => {
    const recorded = [
      { id: "a", uid: "tbd9tsmc8hcggn09v86c" },
      { id: "b", uid: "" },
    ];
    assert.deepEqual(
      differences(recorded, [
        { id: "b", uid: "" },
        { id: "a", uid: "tb12" },
      ]),
      [],
    );
  });

  it("reads a truncated response up to its last complete value", () => {
    const cut = readRecordings("infra").find(({ isCut }) => isCut) as Recording;
    const whole = JSON.parse(cut.marked) as { node: { id?: string }[] };
    assert.ok(whole.node.length >= 2);
    assert.equal(whole.node[0]?.id, "cp-1");
  });
});

function ask(server: RawTumblebug, { method, path, request, status }: Recording): Promise<WireAnswer> {
  return server.ask(method, path, request, status === 401 ? "wrong" : undefined);
}

function isAlike(recording: Recording, answer: WireAnswer): boolean {
  return (
    answer.status === recording.status &&
    differences(JSON.parse(recording.marked), JSON.parse(answer.text)).length === 0
  );
}

function assertDuration({ milliseconds }: Recording, blocked: number): void {
  if (milliseconds < BLOCKING_MILLISECONDS)
    assert.ok(blocked < BLOCKING_MILLISECONDS, `blocks ${blocked} ms, and ${milliseconds} ms were recorded`);
  else
    assert.ok(
      blocked >= milliseconds * SHORTEST && blocked <= milliseconds * LONGEST,
      `blocks ${blocked} ms, and ${milliseconds} ms were recorded`,
    );
}
