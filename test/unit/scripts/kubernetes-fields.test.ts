import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { cacheFolder, projectFolder } from "../../../sandbox/toolchain/cache";
import { fieldsOf } from "../../../providers/kubeadm/plan/validation/known-fields";
import { leaveOut } from "../../left-out";

const cache = cacheFolder();
const modules = path.join(cache, "go", "pkg", "mod");
/** Versions whose programs and modules the sandbox has, and those of etcd beside them. */
const VERSIONS = { "1.36.3": "3.6.5", "1.37.2": "3.7.3" };
/** What programs list and no configuration has; the last two are in the help of etcd 3.7 alone, which does not define them. */
const NEVER_KNOWN = ["help", "version", "discovery", "discovery-proxy"];

const run = (command: string, args: string[], cwd: string, env: Record<string, string> = {}) =>
  spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8",
    timeout: 240_000,
    maxBuffer: 2 ** 26,
  });

describe("fields and arguments of Kubernetes", function () {
  this.timeout(300_000);

  for (const [version, etcd] of Object.entries(VERSIONS)) {
    it(`are those of the sources of ${version}`, function () {
      if (!existsSync(path.join(modules, "k8s.io", `kubernetes@v${version}`)))
        return leaveOut(this, `needs the sources of Kubernetes ${version}`);
      const { stdout, stderr, status } = run(
        "go",
        ["run", ".", version],
        path.join(projectFolder, "scripts", "kubernetes-fields"),
        {
          GOMODCACHE: modules,
          GOPROXY: "off",
          GOFLAGS: "-modcacherw",
        },
      );
      assert.equal(status, 0, stderr);
      const { minors, ...theirs } = JSON.parse(stdout) as ReturnType<typeof fieldsOf> & { minors: number[] };
      assert.deepEqual(minors, [Number(version.split(".")[1])]);
      assert.deepEqual(fieldsOf(version), theirs);
    });

    it(`include every argument that the programs of ${version} list`, function () {
      const folders = [`kubernetes-${version}`, `etcd-${etcd}`].map((name) =>
        path.join(cache, "programs", name),
      );
      if (!folders.every((folder) => existsSync(folder)))
        return leaveOut(this, `needs the programs of Kubernetes ${version} and of etcd ${etcd}`);
      for (const [program, known] of Object.entries(fieldsOf(version).flags)) {
        const folder = folders.find((each) => existsSync(path.join(each, program))) ?? assert.fail(program);
        const { stdout } = run(path.join(folder, program), ["--help"], folder);
        const listed = [...stdout.matchAll(/^ +(?:-[a-zA-Z], )?--([A-Za-z0-9-]+)/gm)].map(
          ([, name = ""]) => name,
        );
        assert.ok(listed.length > 50, `${program}: ${stdout.slice(0, 200)}`);
        const others = listed.filter((name) => !known.includes(name) && !NEVER_KNOWN.includes(name));
        assert.deepEqual(others, [], program);
        const { boolean, duration, integer } = fieldsOf(version).flagValues;
        for (const [, name = "", type = ""] of stdout.matchAll(
          /^ +(?:-., )?--([a-z0-9-]+)(?: ([a-z]\w*))? {2,}/gm,
        )) {
          const kind = /^u?int\d*$/.test(type) ? "integer" : type === "" ? "boolean" : type;
          for (const [of, names] of Object.entries({ boolean, duration, integer }))
            if (names.includes(name)) assert.equal(kind, of, `${program} --${name}`);
        }
      }
    });
  }
});
