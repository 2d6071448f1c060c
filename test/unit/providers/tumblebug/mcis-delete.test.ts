import assert from "node:assert/strict";
import { TumblebugRefusal, type Tumblebug } from "../../../../providers/tumblebug/client";
import type { EndingVm } from "../../../../providers/tumblebug/plan/machine-plan";
import type { VirtualMachine } from "../../../../providers/tumblebug/plan/model";
import { deleteMcis } from "../../../../providers/tumblebug/resources/mcis-delete";

type Vm = EndingVm & Pick<VirtualMachine, "cloudName">;

/** Responses as recorded from CB-Tumblebug 0.7.0 (test/fixtures/tumblebug/mcis-v0.7.0.jsonl). */
class RecordedMcis {
  readonly calls: string[] = [];
  isThere = true;
  description = "organization/foresail/prod (foresail 0123456789ab)";
  /** Effects of the next requests to terminate; later ones end all VMs that the cloud has. */
  readonly refusals: TumblebugRefusal[] = [];

  /** VMs that the cloud has, by name. */
  readonly cloud: Set<string>;
  /** Whether the server reaches CB-Spider; a request to terminate then answers as if it had been carried out. */
  isSpiderUp = true;
  /** How many requests to terminate CB-Spider misses, although it is there before and after. */
  missed = 0;

  constructor(public vms: Vm[]) {
    const inCloud = vms.filter(({ status, cloudId }) => cloudId !== "" && status !== "Terminated");
    this.cloud = new Set(inCloud.map(({ name }) => name));
  }

  get tumblebug(): Tumblebug {
    const infrastructures = {
      confirmsEnd: false,
      checkClouds: () =>
        this.isSpiderUp
          ? Promise.resolve()
          : Promise.reject(refused("an error occurred while requesting to CB-Spider", "SpiderDown")),
      read: () =>
        Promise.resolve(
          this.isThere
            ? { name: "k1", description: this.description, machines: this.vms.map((vm) => ({ ...vm })) }
            : undefined,
        ),
      terminate: () => {
        this.calls.push("terminate");
        const refusal = this.refusals.shift();
        if (refusal) return Promise.reject(refusal);
        const isMissed = this.missed-- > 0;
        const gone = this.vms.filter(({ name, cloudId }) => cloudId !== "" && !this.cloud.has(name));
        this.vms = this.vms.map((vm) => (vm.cloudId === "" ? vm : { ...vm, status: "Terminated" }));
        if (isMissed) return Promise.resolve(undefined);
        this.cloud.clear();
        const words = gone.map(({ cloudName }) => `[{"message":"[aws:vm:${cloudName}] does not exist!"}]`);
        return Promise.resolve(gone.length === 0 ? undefined : refused(words.join(""), "Refused"));
      },
      delete: (_namespace: string, _name: string, { force }: { force: boolean }) => {
        this.calls.push(force ? "delete force" : "delete");
        const statuses = new Set(this.vms.map(({ status }) => status));
        const isMixed = statuses.size > 1;
        if (!force && (isMixed || statuses.has("Running")))
          return Promise.reject(refused("MCIS k1 is Partial-Failed:1 (R:0/2)", "NotAllowedNow"));
        this.isThere = false;
        return Promise.resolve(true);
      },
    };
    return { infrastructures } as unknown as Tumblebug;
  }
}

const refused = (words: string, code: TumblebugRefusal["code"]) =>
  new TumblebugRefusal("GET /control/mcis/k1", 500, words, code);

const destroy = (mcis: RecordedMcis, seconds = 5, progress: (line: string) => void = () => undefined) =>
  deleteMcis(
    mcis.tumblebug,
    { namespace: "ns1", infrastructure: "k1", mark: "0123456789ab" },
    { seconds, progress, againSeconds: 0.2 },
  );

const running = (name: string): Vm => ({
  ...{ name, status: "Running", cloudId: `i-${name}`, cloudName: `ns1-k1-${name}` },
});
const failed = (name: string): Vm => ({ name, status: "Failed", cloudId: "", cloudName: "" });

describe("destroying an MCIS", () => {
  it("ends after a partial failure: force drops the record once every VM has ended", async () => {
    const mcis = new RecordedMcis([running("cp-1"), failed("w-1-1")]);
    await destroy(mcis);
    assert.deepEqual(mcis.calls, ["terminate", "terminate", "delete", "delete force"]);
  });

  it("leaves one alone that another stack, or another program, has made under the name", async () => {
    for (const [description, owner] of [
      ["organization/foresail/staging (foresail ba9876543210)", "the stack organization/foresail/staging"],
      ["foresail ba9876543210", "another stack of foresail"],
      ["made by hand", "another program"],
    ] as const) {
      const mcis = new RecordedMcis([running("cp-1")]);
      mcis.description = description;
      const lines: string[] = [];
      await destroy(mcis, 5, (line) => void lines.push(line));
      assert.deepEqual(mcis.calls, []);
      assert.deepEqual(lines, [`${owner} has made one of its name, which is left alone`]);
    }
  });

  it("uses no force when no VM has failed", async () => {
    const mcis = new RecordedMcis([running("cp-1"), running("w-1-1")]);
    await destroy(mcis);
    assert.deepEqual(mcis.calls, ["terminate", "terminate", "delete"]);
  });

  it("continues where a killed run stopped", async () => {
    const ended = new RecordedMcis([{ ...running("cp-1"), status: "Terminated" }]);
    await destroy(ended);
    assert.deepEqual(ended.calls, ["terminate", "delete"]);
    const gone = new RecordedMcis([]);
    gone.isThere = false;
    await destroy(gone);
    assert.deepEqual(gone.calls, []);
  });

  it("retries when the server can't terminate now, or refuses once", async () => {
    const mcis = new RecordedMcis([running("cp-1")]);
    mcis.refusals.push(refused("please try later", "NotAllowedNow"), refused("cloud error", "Refused"));
    await destroy(mcis);
    assert.deepEqual(mcis.calls, ["terminate", "terminate", "terminate", "terminate", "delete"]);
  });

  it("keeps the record, and passes on the cloud's message, when VMs can't be terminated", async () => {
    const mcis = new RecordedMcis([running("cp-1"), failed("w-1-1")]);
    for (let n = 0; n < 9; n++) mcis.refusals.push(refused("deletion protection is on", "Refused"));
    await assert.rejects(destroy(mcis), { code: "Refused", remote: "deletion protection is on" });
    assert.deepEqual(mcis.calls, ["terminate", "terminate"]);
    assert.ok(mcis.isThere);
  });

  it("never drops the record of a VM whose status could not be read, until its deadline", async () => {
    const mcis = new RecordedMcis([{ ...running("cp-1"), status: "Undefined" }]);
    for (let n = 0; n < 99; n++) mcis.refusals.push(refused("not allowed for Undefined", "NotAllowedNow"));
    await assert.rejects(destroy(mcis, 1), { code: "NotAllowedNow" });
    assert.ok(mcis.isThere && !mcis.calls.some((call) => call.startsWith("delete")));
  });

  it("keeps the record and requests nothing while the server can't reach CB-Spider", async () => {
    const mcis = new RecordedMcis([running("cp-1")]);
    mcis.isSpiderUp = false;
    await assert.rejects(destroy(mcis), { code: "SpiderDown" });
    assert.deepEqual([mcis.calls, mcis.isThere, mcis.cloud.size], [[], true, 1]);
  });

  it("does not believe that VMs are terminated until the server says that the cloud has none of them", async () => {
    // an earlier run, when CB-Spider was unreachable, left them as Terminated
    const mcis = new RecordedMcis([running("cp-1"), running("w-1-1")]);
    mcis.vms = mcis.vms.map((vm) => ({ ...vm, status: "Terminated" }));
    await destroy(mcis);
    assert.deepEqual([mcis.calls, mcis.cloud.size], [["terminate", "terminate", "delete"], 0]);
  });

  it("asks again when CB-Spider missed requests, however often, and never deletes the record before", async () => {
    const mcis = new RecordedMcis([running("cp-1")]);
    mcis.missed = 2;
    await destroy(mcis);
    assert.deepEqual([mcis.calls.length, mcis.cloud.size, mcis.isThere], [5, 0, false]);
    const lost = new RecordedMcis([running("cp-1")]);
    lost.missed = 99;
    await assert.rejects(destroy(lost, 1), /the cloud to confirm the end of cp-1/);
    assert.ok(lost.isThere && lost.cloud.size === 1);
  });

  it("takes only a VM's own name for its absence", async () => {
    const mcis = new RecordedMcis([running("cp-1"), running("cp-10")]);
    mcis.cloud.delete("cp-10");
    for (let n = 0; n < 99; n++)
      mcis.refusals.push(refused("[aws:vm:ns1-k1-cp-10] does not exist! cp-1 is locked", "Refused"));
    mcis.vms = mcis.vms.map((vm) => ({ ...vm, status: "Terminated" }));
    await assert.rejects(destroy(mcis), /cp-1 is locked/);
    assert.ok(mcis.isThere);
  });
});
