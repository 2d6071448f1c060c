import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { installersOf, installerText } from "../../../../../providers/kubeadm/machine/node-agent";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { exampleMachine, exampleSpecification } from "../machine/examples";

describe("the installers of a bundle", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-installers-"));
  const bundle = path.join(folder, "bundle");
  const programs = path.join(folder, "usr/local/bin");
  after(() => rmSync(folder, { recursive: true, force: true }));

  const specification = exampleSpecification({ source: { bundle: { path: `${bundle}/v{version}` } } });
  const installers = installersOf(
    specification,
    { kubernetes: ["1.36.3", "1.35.4"], software: {} },
    exampleMachine("w-1"),
  );

  /** Runs one with the folder in place of the machine's own paths. */
  const run = (software: string, version: string, verb: string, env = process.env) => {
    const found = installers.find((one) => one.software === software && one.version === version);
    const text = `${found?.header}\n${installerText(specification.source)}`
      .replaceAll("/usr/local/bin", programs)
      .replaceAll(NODE_PATHS.agentStaged, path.join(folder, "staged"))
      .replaceAll("/etc/systemd/system", path.join(folder, "units"))
      .replaceAll("/etc/containerd", path.join(folder, "containerd"));
    return spawnSync("bash", ["-c", text, "installer", verb], { encoding: "utf8", env });
  };

  before(() => {
    mkdirSync(path.join(bundle, "v1.36.3/bin"), { recursive: true });
    mkdirSync(programs, { recursive: true });
    for (const name of ["kubeadm", "kubelet", "kubectl"]) {
      const file = path.join(bundle, "v1.36.3/bin", name);
      writeFileSync(file, `#!/bin/sh\n# ${name}\necho v1.36.3\n`);
      chmodSync(file, 0o755);
    }
    const sums = spawnSync("bash", ["-c", "sha256sum bin/* > SHA256SUMS"], {
      cwd: path.join(bundle, "v1.36.3"),
    });
    assert.equal(sums.status, 0);
  });

  it("install kubeadm alone, and kubelet with its unit later, and can run twice", () => {
    assert.equal(run("kubeadm", "1.36.3", "install").status, 0);
    assert.deepEqual(
      ["kubeadm", "kubelet", "kubectl"].map((name) => existsSync(path.join(programs, name))),
      [true, false, false],
    );
    assert.equal(existsSync(path.join(folder, "units/kubelet.service")), false);
    for (let times = 0; times < 2; times += 1) assert.equal(run("kubelet", "1.36.3", "install").status, 0);
    assert.match(readFileSync(path.join(folder, "units/kubelet.service"), "utf8"), /ExecStart=/);
  });

  it("move a staged program into place, without reading the bundle again", () => {
    const staged = path.join(folder, "staged/1.36.3/kubectl");
    for (let times = 0; times < 2; times += 1) assert.equal(run("kubectl", "1.36.3", "stage").status, 0);
    assert.equal(readFileSync(staged, "utf8"), "#!/bin/sh\n# kubectl\necho v1.36.3\n");
    writeFileSync(staged, "#!/bin/sh\n# as staged\n");
    assert.equal(run("kubectl", "1.36.3", "install").status, 0);
    assert.equal(readFileSync(path.join(programs, "kubectl"), "utf8"), "#!/bin/sh\n# as staged\n");
    assert.equal(existsSync(staged), false);
    // the next one finds nothing staged
    assert.equal(run("kubectl", "1.36.3", "install").status, 0);
    assert.match(readFileSync(path.join(programs, "kubectl"), "utf8"), /echo v1\.36\.3/);
    rmSync(path.join(programs, "kubectl"));
  });

  it("report that the bundle of a version is missing, and install nothing when only checking", () => {
    const { status, stdout } = run("kubectl", "1.35.4", "check");
    assert.deepEqual(
      [status, stdout.trim()],
      [66, `the bundle folder ${bundle}/v1.35.4 is not on this machine`],
    );
    assert.equal(run("kubectl", "1.36.3", "check").status, 0);
    assert.equal(existsSync(path.join(programs, "kubectl")), false);
  });

  it("refuse a program that differs from SHA256SUMS, and read no other", () => {
    writeFileSync(path.join(bundle, "v1.36.3/bin/kubectl"), "#!/bin/sh\necho changed\n");
    for (const verb of ["check", "stage", "install"]) {
      const { status, stdout } = run("kubectl", "1.36.3", verb);
      assert.equal(status, 65);
      assert.match(stdout, /bin\/kubectl of the bundle does not match its SHA256SUMS/);
    }
    for (const name of ["usr/local/bin/kubectl", "staged/1.36.3/kubectl"])
      assert.equal(existsSync(path.join(folder, name)), false);
    assert.equal(run("kubelet", "1.36.3", "check").status, 0);
  });

  const fill = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(bundle, "v1.36.3", file)), { recursive: true });
    writeFileSync(path.join(bundle, "v1.36.3", file), text, { mode: 0o755 });
  };
  const sumAll = () =>
    spawnSync("bash", ["-c", "sha256sum bin/* $(ls images/* 2>/dev/null) > SHA256SUMS"], {
      cwd: path.join(bundle, "v1.36.3"),
    });

  it("run no program of a bundle that its SHA256SUMS does not vouch for", () => {
    const trace = path.join(folder, "trace");
    fill("bin/kubectl", "#!/bin/sh\necho v1.36.3\n");
    sumAll();
    fill("bin/kubeadm", `#!/bin/sh\ntouch ${trace}\necho v1.36.3\n`);
    for (const verb of ["check", "install"]) {
      const { status, stdout } = run("kubectl", "1.36.3", verb);
      assert.equal(status, 65);
      assert.match(stdout, /bin\/kubeadm of the bundle does not match its SHA256SUMS/);
    }
    assert.equal(existsSync(trace), false);
    assert.equal(existsSync(path.join(programs, "kubectl")), false);
  });

  const environment = { ...process.env, PATH: `${folder}:${programs}:${process.env.PATH}` };
  const fakeProgram = (name: string, text: string) =>
    writeFileSync(path.join(folder, name), `#!/bin/bash\n${text}\n`, { mode: 0o755 });

  it("import no image of an archive that differs from SHA256SUMS, nor of the archives beside it", () => {
    const imported = path.join(folder, "imported");
    fill("bin/kubeadm", "#!/bin/sh\n[ $1 = version ] && echo v1.36.3 || echo registry.k8s.io/pause:3.10\n");
    fill("images/a.tar", "an archive");
    fill("images/b.tar", "another archive");
    sumAll();
    fakeProgram("ctr", `[ $4 = list ] || echo "$@" >>${imported}`);
    fill("images/b.tar", "a changed archive");
    const { status, stdout } = run("images", "1.36.3", "install", environment);
    assert.equal(status, 65);
    assert.match(stdout, /images\/b\.tar of the bundle does not match its SHA256SUMS/);
    assert.equal(existsSync(imported), false);
    sumAll();
    assert.equal(run("images", "1.36.3", "install", environment).status, 0);
    assert.equal(readFileSync(imported, "utf8").split("\n").length, 3);
  });

  it("pin the images of the bundle and no others, and import again only what is missing", () => {
    const at = (name: string) => path.join(folder, name);
    for (const name of ["images-there", "images-pinned"]) writeFileSync(at(name), "");
    fakeProgram(
      "ctr",
      `case "$4 $5" in
      "list --quiet") if [ -n "$6" ]; then cat ${at("images-pinned")}; else cat ${at("images-there")}; echo site/network:10; fi ;;
      import*)
        echo import >>${at("imports")}
        printf '%s\\n' registry.k8s.io/pause:3.10 site/network:1 >${at("images-there")}
        echo "unpacking site/network:1 (sha256:00)...done"
        ;;
      label*) echo "$5" >>${at("images-pinned")} ;;
      esac`,
    );
    copyFileSync(path.join(bundle, "v1.36.3/bin/kubeadm"), path.join(programs, "kubeadm"));
    const pinned = () => readFileSync(at("images-pinned"), "utf8").trim().split("\n");
    const imports = () => readFileSync(at("imports"), "utf8").trim().split("\n").length;
    for (const verb of ["install", "restore"]) {
      const { status, stderr } = run("images", "1.36.3", verb, environment);
      assert.deepEqual([status, stderr], [0, ""]);
      assert.deepEqual([pinned(), imports()], [["registry.k8s.io/pause:3.10", "site/network:1"], 2]);
    }
    for (const name of ["images-there", "images-pinned"]) writeFileSync(at(name), "site/network:1\n");
    assert.equal(run("images", "1.36.3", "restore", environment).status, 0);
    assert.equal(imports(), 4);
  });

  it("bring containerd to the version's pause image with the kubelet, and restart it only for another one", () => {
    const file = path.join(folder, "containerd/config.toml");
    const restarts = path.join(folder, "restarts");
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, 'a = 1\n    sandbox_image = "registry.k8s.io/pause:3.9"\n');
    fakeProgram("systemctl", `[ "$1" != restart ] || echo "$*" >>${restarts}`);
    const uses = (settings: string) => {
      // the folder of the others has one with its name
      mkdirSync(path.join(folder, "more"), { recursive: true });
      fakeProgram("more/containerd", settings);
    };
    const withContainerd = { ...environment, PATH: `${path.join(folder, "more")}:${environment.PATH}` };
    uses(`cat ${file}`);
    for (let times = 0; times < 2; times += 1)
      assert.equal(run("kubelet", "1.36.3", "install", withContainerd).status, 0);
    assert.equal(readFileSync(file, "utf8"), 'a = 1\n    sandbox_image = "registry.k8s.io/pause:3.10"\n');
    assert.equal(readFileSync(restarts, "utf8"), "restart containerd\n");
    // a file that containerd imports
    uses(`echo 'sandbox_image = "registry.k8s.io/pause:3.9"'`);
    const { status, stdout } = run("kubelet", "1.36.3", "install", withContainerd);
    assert.equal(status, 1);
    assert.match(stdout, /containerd does not use the pause image registry\.k8s\.io\/pause:3\.10/);
  });

  it("refuse a program that SHA256SUMS does not list", () => {
    writeFileSync(path.join(bundle, "v1.36.3/SHA256SUMS"), "");
    const { status, stdout } = run("kubeadm", "1.36.3", "check");
    assert.equal(status, 65);
    assert.match(stdout, /bin\/kubeadm of the bundle does not match its SHA256SUMS/);
  });

  it("use nothing of a bundle folder without SHA256SUMS, and say how to make it", () => {
    rmSync(path.join(bundle, "v1.36.3/SHA256SUMS"));
    for (const verb of ["check", "install"]) {
      const { status, stdout } = run("kubectl", "1.36.3", verb);
      assert.equal(status, 65);
      assert.match(stdout, /has no SHA256SUMS.*sha256sum bin\/\* images\/\*\.tar >SHA256SUMS/);
    }
    assert.equal(existsSync(path.join(programs, "kubectl")), false);
  });
});
