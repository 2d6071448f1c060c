import assert from "node:assert/strict";
import { registryCredentialsToml } from "../../../../../providers/kubeadm/machine/parameters";
import { CONTAINERD_FUNCTIONS, ShellMachine } from "./run-shell";

const PAUSE = "r.example.com/pause:3.10";

/** What `containerd config default` prints of the settings that foresail changes, by release; recorded. */
const VERSION_2 = `imports = []
version = 2
    sandbox_image = "registry.k8s.io/pause:3.6"
        [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
          runtime_type = "io.containerd.runc.v2"
          [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
            SystemdCgroup = false
    [plugins."io.containerd.grpc.v1.cri".registry]
      config_path = ""
`;
const VERSION_3 = `version = 3
imports = ['/etc/containerd/conf.d/*.toml']
    [plugins.'io.containerd.cri.v1.images'.pinned_images]
      sandbox = 'registry.k8s.io/pause:3.10.1'
    [plugins.'io.containerd.cri.v1.images'.registry]
      config_path = ''
        [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
          runtime_type = 'io.containerd.runc.v2'
          [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
            SystemdCgroup = false
`;
const DEFAULTS: Readonly<Record<string, string>> = {
  "1.6.20": VERSION_2,
  "2.2.9": VERSION_3,
  "2.4.2": VERSION_3.replace("version = 3", "version = 4"),
};

/** Writes the settings of a release, changes what containerd then says that it uses, and reads it back. */
function readBack(defaults: string, change: [from: RegExp, to: string] = [/$^/, ""]) {
  const machine = new ShellMachine();
  machine.write("/run/default", defaults);
  machine.program(
    "containerd",
    `case "$*" in --version) echo containerd containerd 9.9.9 ;; "config dump") cat ${machine.path("/run/dump")} ;;
     *) cat ${machine.path("/run/default")} ;; esac`,
  );
  const run = (commands: string, input: string) => {
    machine.write("/run/credentials", input);
    return machine.run(
      CONTAINERD_FUNCTIONS,
      { MACHINE: "w-1", SYSTEMD_CGROUP: "true", REGISTRIES: ["docker.io"] },
      `in_container=no; BEFORE_PATH=/none; pause_image() { echo ${PAUSE}; }; credentials=$(cat /run/credentials; echo .)
${commands}`,
    );
  };
  const own = registryCredentialsToml({ "r.example.com": { username: "reader", password: "secret-word" } });
  const written = run(
    'adjust_containerd_settings "$(print_containerd_settings)" "${credentials%.}"',
    own,
  ).stdout;
  machine.write("/run/dump", written.replace(...change));
  const { status, stdout, stderr } = run('require_effective_containerd "${credentials%.}"', own);
  return { status, output: (stdout + stderr).replaceAll(machine.root, "") };
}

const BREAKS: readonly [what: string, change: [RegExp, string], named: RegExp][] = [
  [
    "a pause image of a file that it imports",
    [/pause:3\.10"/, 'pause:3.9"'],
    /the pause image r\.example\.com\/pause:3\.10;/,
  ],
  ["a later pause image", [/pause:3\.10"/, 'pause:3.10.2"'], /the pause image r\.example\.com\/pause:3\.10;/],
  ["other cgroups", [/SystemdCgroup = true/, "SystemdCgroup = false"], /SystemdCgroup = true of runc;/],
  [
    "another folder of registries",
    [/(config_path = ")[^"]*/, "$1/srv/certs.d"],
    /registryMirrors, which are in \/etc\/containerd\/certs\.d;/,
  ],
  ["no credentials", [/\[[^[]*\.auth\][^]*/, ""], /registryCredentials of r\.example\.com;/],
];

describe("what containerd uses of its settings", () => {
  for (const [release, defaults] of Object.entries(DEFAULTS)) {
    it(`is what was written, in the form of ${release}`, () => {
      assert.deepEqual(readBack(defaults), { status: 0, output: "" });
    });
    for (const [what, change, named] of BREAKS)
      it(`ends the preparation when it is ${what}, in the form of ${release}`, () => {
        const { status, output } = readBack(defaults, change);
        assert.equal(status, 78);
        assert.match(output, named);
        assert.match(
          output,
          /^w-1: containerd 9\.9\.9 does not use what foresail wrote to .*look there at: containerd config dump/,
        );
        assert.equal(output.split(";").length, 2, "other settings are named, too");
        assert.doesNotMatch(output, /secret-word/);
      });
  }
});
