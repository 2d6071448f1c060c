import assert from "node:assert/strict";
import { parseRefusingPrograms } from "../../../../../providers/kubeadm/machine/configuration/configuration-differences";
import { ShellMachine } from "./run-shell";

const FAILED = 'E1127 02:00:00.1 9 run.go:72] "command failed" err=';
const VARIABLES = "expected=$folder/expected rendered=$folder/rendered removed=() answered=()";

/** Runs a function of the file for a machine, and returns which programs refuse their new files. */
function tried(machine: ShellMachine, commands: string) {
  machine.write("/run/folder/rendered/config.yaml", "new: yes\n");
  const prepared = `folder=/run/folder; ${VARIABLES}\n${commands}`;
  const { stdout, stderr, status } = machine.run({ "common/tried-programs": "all" }, {}, prepared);
  assert.deepEqual([stderr, status], ["", 0]);
  return parseRefusingPrograms(stdout);
}

describe("programs that a preview tries with their new files", function () {
  this.timeout(20_000);

  describe("a kubelet", () => {
    /** What a kubelet says of its new configuration and of that of today; undefined where it accepts one. */
    function kubelet(ofNew: string | undefined, ofOld?: string) {
      const machine = new ShellMachine();
      machine.write("/var/lib/kubelet/config.yaml", "new: no\n");
      machine.program("setpriv", 'until [ "$1" = kubelet ]; do shift; done; exec "$@"');
      const says = (words?: string) => (words === undefined ? ":" : `echo '${FAILED}"${words}"'; exit 1`);
      machine.program(
        "kubelet",
        `if grep -q 'new: yes' "$2"; then ${says(ofNew)}; else ${says(ofOld)}; fi; kill -KILL $$`,
      );
      return tried(machine, "try_kubelet");
    }
    const invalid = "failed to validate kubelet configuration, error: maxPods is too small";

    it("refuses with the words with which it ended", () =>
      assert.deepEqual(kubelet(invalid), [{ program: "kubelet", words: `"${invalid}"` }]));

    it("accepts what it runs with, what it refuses today as well, and what it says of the machine", () => {
      assert.deepEqual(kubelet(undefined), []);
      assert.deepEqual(kubelet(invalid, invalid), []);
      assert.deepEqual(kubelet("failed to run Kubelet: no such user"), []);
    });
  });

  describe("a kubelet whose configuration names files", () => {
    /** What is refused of a new configuration on a machine. @param removed a path */
    function named(line: string, prepare?: (machine: ShellMachine) => void, removed = "") {
      const machine = new ShellMachine();
      machine.write("/var/lib/kubelet/config.yaml", "new: no\n");
      prepare?.(machine);
      return tried(
        machine,
        `printf '%s\\n' 'authentication:' '${line}' >$rendered/config.yaml; removed=(${removed}); has_programs() { false; }; try_kubelet`,
      ).map(({ words }) => words.replaceAll(machine.root, ""));
    }
    const FILE = "/opt/ca.crt";
    const CA = `    clientCAFile: ${FILE}`;
    const missing = ["clientCAFile: open /opt/ca.crt: no such file or directory"];

    it("refuses one that is not there, or that the change removes", () => {
      assert.deepEqual(named(CA), missing);
      assert.deepEqual(named('resolvConf: "/opt/resolv.conf"'), [
        "resolvConf: open /opt/resolv.conf: no such file or directory",
      ]);
      assert.deepEqual(
        named(CA, (machine) => machine.write(FILE, ""), FILE),
        missing,
      );
    });

    it("accepts one that is there, that the change writes, and that is missing already", () => {
      assert.deepEqual(
        named(CA, (machine) => machine.write(FILE, "")),
        [],
      );
      assert.deepEqual(
        named(CA, (machine) => machine.write(`/run/folder/expected${machine.path(FILE)}`, "")),
        [],
      );
      assert.deepEqual(
        named(CA, (machine) =>
          machine.write("/var/lib/kubelet/config.yaml", CA.replace(FILE, machine.path(FILE))),
        ),
        [],
      );
      assert.deepEqual(named('resolvConf: ""'), []);
      assert.deepEqual(named("clusterDNS: /opt/x"), []);
    });
  });

  describe("kube-proxy", () => {
    /** What it says of its new configuration and of that of today; undefined where it accepts one. */
    function kubeProxy(ofNew: string | undefined, ofOld?: string) {
      const machine = new ShellMachine();
      machine.program("setpriv", 'until [[ $1 == /proc/* ]]; do shift; done; exec kube-proxy "${@:2}"');
      const says = (words?: string) =>
        `echo '${FAILED}"${words ?? "stat /var/lib/kube-proxy/kubeconfig.conf"}"'`;
      machine.program(
        "kube-proxy",
        `if grep -q 'new: yes' "$2"; then ${says(ofNew)}; else ${says(ofOld)}; fi`,
      );
      // a process of the test, in whose root this is not a file
      const found = `process_of() { echo $$; }; cat() { if [[ $* == /proc/* ]]; then echo 'new: no'; else command cat "$@"; fi; }`;
      return tried(machine, `${found}; try_kube_proxy $rendered/config.yaml`);
    }
    const invalid = "failed validate: [KubeProxyConfiguration.Mode: Invalid value: nonsense]";

    it("refuses with the words with which it ended", () =>
      assert.deepEqual(kubeProxy(invalid), [{ program: "kube-proxy", words: `"${invalid}"` }]));

    it("accepts what it runs with, what it refuses today as well, and what it says of the machine", () => {
      assert.deepEqual(kubeProxy(undefined), []);
      assert.deepEqual(kubeProxy(invalid, invalid), []);
      assert.deepEqual(kubeProxy("failed validate: no such host"), []);
    });

    it("is not tried where none runs", () =>
      assert.deepEqual(
        tried(new ShellMachine(), "process_of() { :; }; try_kube_proxy $rendered/config.yaml"),
        [],
      ));
  });

  describe("a static pod's program", () => {
    /** How it ends with its new files and with those of today: its exit code, and the last line of its log. */
    function apiServer(ofNew: readonly [number, string], ofOld: readonly [number, string] = [137, ""]) {
      const machine = new ShellMachine();
      for (const program of ["unshare", "kubectl", "ip"]) machine.program(program, "exit 9");
      const end = ([code, line]: readonly [number, string]) => `echo '${line}' >"$5"; return ${code}`;
      return tried(
        machine,
        `in_namespaces() { if [ "$4" = yes ]; then ${end(ofNew)}; else ${end(ofOld)}; fi; }
process_of() { echo 1; }
try_static_pod kube-apiserver`,
      );
    }
    const unknown = "Error: unknown flag: --x";

    it("refuses with the words with which it ended", () => {
      assert.deepEqual(apiServer([1, unknown]), [{ program: "kube-apiserver", words: unknown }]);
      assert.deepEqual(apiServer([1, `${FAILED}"bad \u001b[2J policy"`]), [
        { program: "kube-apiserver", words: '"bad [2J policy"' },
      ]);
    });

    const ofEtcd = [
      [
        '{"level":"warn","ts":"t","msg":"failed to verify flags","error":"unknown auto-compaction-mode \\"weekly\\""}',
        'unknown auto-compaction-mode "weekly"',
      ],
      [
        '{"level":"fatal","ts":"t","msg":"discovery failed","error":"unexpected TLS cipher suite","stacktrace":"main"}',
        "unexpected TLS cipher suite",
      ],
      ["flag provided but not defined: -x"],
      ['invalid value "abc" for flag -quota-backend-bytes: parse error'],
    ].map(([line = "", words = line]) => [line, words] as const);
    for (const [line, words] of ofEtcd)
      it(`refuses with what etcd says: ${words}`, () =>
        assert.deepEqual(apiServer([1, line]), [{ program: "kube-apiserver", words }]));

    it("accepts an etcd that ends for want of its address, after it has read its arguments", () =>
      assert.deepEqual(
        apiServer([
          1,
          '{"level":"fatal","ts":"t","msg":"discovery failed","error":"listen tcp 10.9.9.9:2380: bind: cannot assign requested address"}',
        ]),
        [],
      ));

    it("is tried for each manifest that changes, etcd's among them", () => {
      const machine = new ShellMachine();
      machine.write("/run/folder/rendered/etcd.yaml", "new");
      machine.write("/run/folder/rendered/kube-scheduler.yaml", "same");
      machine.write("/etc/kubernetes/manifests/etcd.yaml", "old");
      machine.write("/etc/kubernetes/manifests/kube-scheduler.yaml", "same");
      const refused = tried(
        machine,
        'try_kubelet() { :; }; try_static_pod() { answer_refusal "$1" refused; }; try_programs',
      );
      assert.deepEqual(refused, [{ program: "etcd", words: "refused" }]);
    });

    const accepted: [string, readonly [number, string], (readonly [number, string])?][] = [
      ["when it goes on", [137, unknown]],
      ["when it could not be tried", [99, unknown]],
      ["when it says nothing of itself", [1, "I1127 02:00:00.1 9 server.go:1] Version"]],
      [
        "when it ends for want of a network",
        [1, `${FAILED}"dial tcp 10.0.0.1:2379: network is unreachable"`],
      ],
      ["when it ends with the files of today, too", [1, unknown], [1, unknown]],
    ];
    for (const [when, ...ends] of accepted)
      it(`accepts ${when}`, () => assert.deepEqual(apiServer(...ends), []));

    it("ends as soon as it asks for etcd", () => {
      const machine = new ShellMachine();
      const log = machine.path("/run/log");
      machine.write("/run/log", "");
      const started = Date.now();
      tried(
        machine,
        `DIALING_SECONDS=0; { echo 'Error while dialing: x' >${log}; exec sleep 60; } & status=0; end_with_files $! ${log} || status=$?; [ "$status" = 137 ]`,
      );
      assert.ok(Date.now() - started < 10_000);
    });
  });
});
