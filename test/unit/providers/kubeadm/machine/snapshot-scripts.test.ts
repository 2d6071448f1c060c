import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { ShellMachine } from "./run-shell";

describe("the version of a snapshot", () => {
  for (const [image, version] of [
    ["registry.k8s.io/kube-apiserver:v1.36.3", "1.36.3"],
    ["mirror.example.com:5000/kube-apiserver:1.36.3", "1.36.3"],
    ["10.0.0.1:5000/k8s/kube-apiserver:v1.36.3@sha256:0a1b", "1.36.3"],
    ["registry.k8s.io/kube-apiserver:v1.36.3-build.7", "1.36.3"],
    ["registry.k8s.io/kube-apiserver@sha256:0a1b", "unknown"],
    ["", "unknown"],
  ] as const)
    it(`is ${version} for the image ${image || "without a name"}`, () => {
      const commands = 'version_of "$IMAGE"';
      const ran = new ShellMachine().run(
        { "backup/etcd-snapshot": ["version_of"] },
        { IMAGE: image },
        commands,
      );
      assert.equal(ran.stdout, `${version}\n`, ran.stderr);
    });
});

describe("what a control plane says before a restore", () => {
  const MANIFEST = "/etc/kubernetes/manifests/etcd.yaml";

  /** A machine whose disks have this many free MiB. */
  function machine({ images = "", ready = false, free = 4096, member = false } = {}) {
    const found = new ShellMachine();
    found.program("ctr", `printf '%s\\n' ${images}`);
    found.program("curl", `exit ${ready ? 0 : 7}`);
    found.program("df", `echo Avail; echo " ${free * 2 ** 20}"`);
    for (const folder of ["/var/lib/foresail", "/var/lib/etcd"])
      mkdirSync(found.path(folder), { recursive: true });
    if (member) {
      found.write(MANIFEST, `    - etcd\n    - --data-dir=${found.path("/var/lib/etcd")}\n`);
      found.write("/var/lib/etcd/member/snap/db", "");
    }
    return found;
  }
  const answerOf = (on: ShellMachine) => {
    const { stdout, stderr, status } = on.step("backup/restore-facts", { MACHINE: "cp-1" });
    assert.equal(status, 0, stderr);
    return stdout.trim().split("\n");
  };

  it("has nothing but space without files and images", () =>
    assert.deepEqual(answerOf(machine()), ["prepared", `fits ${1792 * 2 ** 20}`]));

  it("has the programs with the image of etcd", () =>
    assert.ok(
      answerOf(machine({ images: "registry.k8s.io/pause:3 mirror:5000/k8s/etcd:3.6.1-0" })).includes(
        "programs",
      ),
    ));

  it("has no space below 512 MiB", () => assert.ok(answerOf(machine({ free: 500 })).includes("fits 0")));

  it("names what was restored only while its data is there", () => {
    const restored = (member: boolean) => {
      const on = machine({ ready: true, member });
      on.write("/var/lib/foresail/restored", "demo x");
      return answerOf(on).filter((line) => /^(api|restored)/.test(line));
    };
    assert.deepEqual(restored(true), ["api", "restored demo x"]);
    assert.deepEqual(restored(false), []);
  });
});

describe("the programs of etcd's image", () => {
  it("are copied from a mount that ends, also one that a killed step has left", () => {
    const on = new ShellMachine();
    const image = on.path("/run/foresail-etcd");
    const log = on.path("/log");
    on.program(
      "ctr",
      `echo "$4" >>${log}
if [ "$4" = mount ] && [ ! -e ${image}/usr ]; then mkdir -p ${image}/usr/local/bin; echo made >${image}/usr/local/bin/etcdutl; fi
if [ "$4" = unmount ]; then rm -rf ${image}/usr; fi`,
    );
    on.write("/run/foresail-etcd/usr/left", "");
    on.write("/var/lib/foresail/snapshot/file", "");
    const commands = `take_etcd_programs etcd:3 etcdutl; cat "$SNAPSHOT_PATH/etcdutl"; cat ${log}; ls -d ${image} || true`;
    const ran = on.run({ "common/etcd-programs": "all" }, { MACHINE: "cp-1" }, commands);
    assert.equal(ran.stdout, "made\nunmount\nmount\nunmount\n", ran.stderr);
  });
});

describe("a fenced control plane", () => {
  it("is left as it is where nothing runs", () => {
    const on = new ShellMachine();
    const fakes = "command() { return 1; }; stop_control_plane() { echo stopped; }";
    const ran = on.step("backup/fence-control-plane", { MACHINE: "cp-2" }, [], { fakes });
    assert.deepEqual([ran.status, ran.stdout], [0, ""], ran.stderr);
  });
});
