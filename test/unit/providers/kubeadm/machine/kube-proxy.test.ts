import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { ShellMachine } from "./run-shell";

const ENDED =
  'E1126 10:00:00.000000       1 server.go:1] "Error running ProxyServer" err="cannot assign requested address"';

/**
 * Restarts kube-proxy, whose pods are those of a fake cluster.
 *
 * @param pods lines of TIME NAME NODE ENDS, and since when it runs, if it does; TIME is "now" for those of this restart
 * @param kept the annotation of an interrupted restart, or what others wrote there
 * @param rolled the question for which the DaemonSet has been rolled out
 */
function restart(pods: readonly string[], { former = "", kept = "", rolled = 3 } = {}) {
  const host = new ShellMachine();
  const patches = host.path("/run/patches");
  const asked = host.path("/run/asked");
  host.write("/run/asked", "");
  host.program(
    "kubectl",
    `case $* in
*"get daemonset"*annotations*) printf '%s' '${kept}' ;;
*"get daemonset"*) printf '%s' '${former}' ;;
*"patch daemonset"*) printf '%s\\n' "\${@: -1}" | tr -d '\\n' >>${patches}; echo >>${patches} ;;
*"rollout status"*)
  echo "1 out of 3 new pods have been updated"; echo x >>${asked}
  [ "$(wc -l <${asked})" -ge ${rolled} ] ;;
*"get pods"*) now=$(sed -n 's/.*restartedAt":"\\([^"]*\\)".*/\\1/p' ${patches} | head -n 1); printf '%s\\n' ${pods.map((pod) => `"${pod}"`).join(" ")} | sed "s/^now /$now /" ;;
*logs*--previous*) echo "unable to retrieve container logs for containerd://1" ;;
*logs*) echo '${ENDED}' ;;
*) echo "unexpected: $*" >&2; exit 1 ;;
esac`,
  );
  const { status, stdout, stderr } = host.step(
    "configuration/restart-kube-proxy",
    { SCRATCH_PATH: "/run/scratch" },
    ["common/kube-proxy"],
  );
  const written = existsSync(patches) ? readFileSync(patches, "utf8").trim().split("\n") : [];
  return { status, stdout: stdout + stderr, patches: written.map((text) => JSON.parse(text) as Patch) };
}

interface Patch {
  metadata: { annotations: Record<string, string | null> };
  spec: { minReadySeconds: number; template?: unknown };
}

describe("the restart of kube-proxy", () => {
  it("waits on each node for some seconds, and gives the DaemonSet its own value back", () => {
    for (const [former, during] of [
      ["", 10],
      ["2", 10],
      ["30", 30],
    ] as const) {
      const { status, stdout, patches } = restart(["now kube-proxy-1 w-1 0 2026-11-26T10:00:00Z"], {
        former,
      });
      assert.equal(status, 0, stdout);
      assert.deepEqual(
        patches.map(({ spec }) => spec.minReadySeconds),
        [during, Number(former)],
      );
      assert.deepEqual(patches[1]?.metadata.annotations, { "foresail/min-ready-seconds": null });
      assert.equal(patches[1]?.spec.template, undefined);
    }
  });

  it("computes with no annotation that is not a number", () => {
    const pods = ["now kube-proxy-1 w-1 0 2026-11-26T10:00:00Z"];
    for (const [kept, given] of [
      ["30", 30],
      ["08", 0],
      ["1000000", 0],
      ["former[$(echo hello >&2)]", 0],
    ] as const) {
      const { status, stdout, patches } = restart(pods, { kept });
      assert.equal(status, 0, stdout);
      assert.doesNotMatch(stdout, /hello/);
      assert.equal(patches[1]?.spec.minReadySeconds, given);
    }
  });

  it("ends with kube-proxy's own words when it keeps ending, and keeps the next nodes waiting", () => {
    const { status, stdout, patches } = restart(["now kube-proxy-2 w-1 2"], { rolled: 100 });
    assert.equal(status, 65);
    assert.match(
      stdout,
      /^kube-proxy on w-1 ended three times .*cannot assign requested address"\. On the nodes after it/m,
    );
    assert.equal(patches.length, 1);
  });

  it("takes none of before the restart, none that ended once and none that runs again for a failure", () => {
    const pods = [
      "2026-11-25T10:00:00Z kube-proxy-3 w-2 9",
      "now kube-proxy-4 w-1 1",
      "now kube-proxy-5 w-3 2 2026-11-26T10:00:00Z",
    ];
    const { status, stdout } = restart(pods);
    assert.equal(status, 0, stdout);
  });
});
