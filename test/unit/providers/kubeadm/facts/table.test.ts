import assert from "node:assert/strict";
import { loginFinding, LOGIN_ROWS } from "../../../../../providers/kubeadm/plan/facts/login-rows";
import { FACT_ROWS, findingsOf, SHARED_ROWS } from "../../../../../providers/kubeadm/plan/facts/table";
import { FACT_CASES, second, SHARED_CASES } from "./fact-cases";
import { asked, AT, FRESH } from "./fresh-machine";

const rows = [...LOGIN_ROWS, ...FACT_ROWS, ...SHARED_ROWS];
const levelOf = (name: string) => rows.find((row) => row.name === name)?.level;

describe("the table of facts", () => {
  it("finds nothing on fresh machines, as control planes and as workers", () => {
    const worker = asked({}, { machine: { name: "w-1", role: "worker" } });
    assert.deepEqual(findingsOf([asked(), second()]), []);
    assert.deepEqual(findingsOf([worker]), []);
  });

  it("has 45 rows or more, with names of their own, and says for each what is read and needed", () => {
    assert.ok(rows.length >= 45, String(rows.length));
    assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
    for (const { name, read, needs, fix } of rows) assert.ok(read && needs && fix, name);
  });

  for (const { row, facts, over, says } of FACT_CASES)
    it(`${levelOf(row) === "refused" ? "refuses" : "warns of"} ${row}: ${says.source.slice(0, 60)}`, () => {
      const found = findingsOf([asked(facts, over)]);
      assert.deepEqual(
        found.map(({ name, level }) => [name, level]),
        [[row, levelOf(row)]],
      );
      assert.match(found[0]!.sentence, says);
      assert.doesNotMatch(found[0]!.sentence, /\{\w+\}|undefined|NaN/);
    });

  for (const { row, facts, says } of SHARED_CASES)
    it(`compares machines: ${row}`, () => {
      const found = findingsOf([asked(), second(facts)]);
      assert.deepEqual(
        found.map(({ name, machine, level }) => [name, machine, level]),
        [[row, "cp-2", levelOf(row)]],
      );
      assert.match(found[0]!.sentence, says);
      assert.doesNotMatch(found[0]!.sentence, /\{\w+\}|undefined|NaN/);
    });

  it("refuses two clocks that agree with the one here, and not with each other", () => {
    const ahead = second({
      clock: String(AT / 1000 + 200),
      machineId: "b",
      hostName: "b",
      productId: "b",
      hardwareAddresses: "b",
    });
    const found = findingsOf([asked({ clock: String(AT / 1000 - 200) }), ahead]);
    assert.deepEqual(
      found.map(({ name, machine }) => [name, machine]),
      [["clocks of the machines", "cp-2"]],
    );
  });

  it("has a case for each row", () => {
    const cases = new Set([...FACT_CASES, ...SHARED_CASES].map(({ row }) => row));
    const due = [...FACT_ROWS, ...SHARED_ROWS].map(({ name }) => name);
    assert.deepEqual(
      due.filter((name) => !cases.has(name) && name !== "clocks of the machines"),
      [],
    );
  });

  it("says nothing about facts that a machine did not say, and nothing about members", () => {
    const silent = Object.fromEntries(Object.keys(FRESH).map((name) => [name, undefined]));
    assert.deepEqual(findingsOf([asked(silent), second(silent)]), []);
    for (const { facts, over } of FACT_CASES)
      assert.deepEqual(findingsOf([asked({ ...facts, member: "yes" }, over)]), []);
  });

  it("leaves out what the configuration allows", () => {
    const ignorePreflightErrors = ["SystemVerification", "NumCPU", "Mem"];
    const small = { kernel: "4.18.0", controllers: "cpu", processors: "1", memory: "900" };
    const kubelet = { failCgroupV1: false, failSwapOn: false, resolvConf: "/etc/resolv.pods" };
    const own = {
      cgroup: "tmpfs",
      swap: "/dev/zram0 partition",
      nameServers: "127.0.0.1",
      resolver: "inactive",
    };
    const specification = { ignorePreflightErrors, kubelet };
    assert.deepEqual(findingsOf([asked({ ...small, ...own }, { specification })]), []);
    const older = { specification: { version: "1.34.2" } };
    const versions = FRESH["repositoryVersions"]?.replaceAll("1.36.3", "1.34.2");
    assert.deepEqual(findingsOf([asked({ cgroup: "tmpfs", repositoryVersions: versions }, older)]), []);
    const network = {
      podCidr: "10.244.0.0/16",
      serviceCidr: "10.96.0.0/12",
      dnsDomain: "cluster.local",
      bridge: false,
    };
    const held = {
      internalAddress: "192.0.2.7",
      specification: { network: { ...network, holdNodeAddress: true } },
    };
    assert.deepEqual(findingsOf([asked({}, held)]), []);
  });

  it("puts refusals first, cuts what machines say, and prints no control characters", () => {
    const found = findingsOf([asked({ selinux: "1", distributions: `k3s\u001b[31m${"x".repeat(5000)}` })]);
    assert.deepEqual(
      found.map(({ level }) => level),
      ["refused", "warning"],
    );
    assert.ok(found[0]!.sentence.length < 1000);
    assert.ok(!found[0]!.sentence.includes("\u001b"));
  });

  it("refuses a login that no later run passes, and no machine that only does not answer", () => {
    for (const { of, name } of LOGIN_ROWS)
      assert.equal(loginFinding("cp-1", { unread: "why", refused: of })?.name, name);
    assert.equal(loginFinding("cp-1", { unread: "could not be reached within 5 s" }), undefined);
  });
});
