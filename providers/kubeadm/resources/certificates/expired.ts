import { messageOf } from "../../../../lib/error-message";
import { EngineGone } from "../../../../lib/process/parent-watch";
import { RunInterrupted } from "../../../../lib/process/interruption";
import { servedCertificate } from "../../../../lib/kubernetes/api-server-health";
import {
  awaitStaticPodsScript,
  certificateEndsScript,
  renewCertificatesScript,
} from "../../machine/certificates/certificate-steps";
import {
  certificateRepairs,
  parseReadCertificates,
  type ReadCertificates,
} from "../../plan/certificates/expired";
import type { Machine } from "../../plan/cluster/machine";
import { adminKubeconfigSteps, type AdminKubeconfigStep } from "../../plan/steps";
import type { AdminKubeconfigInputs } from "../declarations";
import {
  allInParallel,
  errorOf,
  failuresOfEach,
  type MachinesSession,
  withMachines,
} from "../session/machines-session";

/** How long all API servers have to answer, and how long the others have once one of them works. */
const PROBE_MILLISECONDS = 1500;
const PROBE_MILLISECONDS_BESIDE = 500;
/** How long a machine may take to be reached for a preview, and then to answer. */
const REACH_SECONDS = 5;
const READ_SECONDS = 20;
/** How long kubeadm may look for the API and renew everything. */
const RENEW_SECONDS = 240;
/** Time for a step beyond its own wait. */
const SPARE_SECONDS = 30;

type Session = MachinesSession<AdminKubeconfigInputs>;

/** Returns what a run has to renew over SSH, and a remark for each machine that could not say what it has. */
export async function readRepairs(
  resource: string,
  inputs: AdminKubeconfigInputs,
): Promise<AdminKubeconfigStep[]> {
  const machines = await withoutValidCertificate(inputs.machines);
  if (machines.length === 0) return [];
  const short = { ...inputs, timeouts: { ...inputs.timeouts, ssh: REACH_SECONDS } };
  return withMachines(resource, short, async (session) => {
    const read: ReadCertificates[] = [];
    const unread: AdminKubeconfigStep[] = [];
    await allInParallel(machines, async (machine) => {
      try {
        const answer = await session.run(machine, certificateEndsScript, { seconds: READ_SECONDS });
        read.push(parseReadCertificates(machine.name, answer));
      } catch (error) {
        if (error instanceof RunInterrupted || error instanceof EngineGone) throw error;
        unread.push({ kind: "unreadCertificates", machine: machine.name, why: messageOf(error) });
      }
    });
    const order = (name: string) => inputs.machines.findIndex((machine) => machine.name === name);
    read.sort((one, other) => order(one.machine) - order(other.machine));
    const repairs = certificateRepairs(read, new Date());
    // without a repair, others say that the cluster can't be reached
    return repairs.length > 0 ? [...repairs, ...unread] : [];
  });
}

/**
 * Returns the control planes whose API servers may need certificates. One that is down is none of them as long as another one
 * works: that is read through the API.
 */
async function withoutValidCertificate(machines: readonly Machine[]): Promise<Machine[]> {
  const ending = new AbortController();
  let timer = setTimeout(() => ending.abort(), PROBE_MILLISECONDS);
  const served = await Promise.all(
    machines.map(async ({ apiServer }) => {
      const found = await servedCertificate(apiServer, ending.signal);
      if (found === "valid") {
        clearTimeout(timer);
        timer = setTimeout(() => ending.abort(), PROBE_MILLISECONDS_BESIDE);
      }
      return found;
    }),
  );
  clearTimeout(timer);
  const isServed = served.includes("valid");
  return machines.filter((_, at) => served[at] === "nothing valid" || (!isServed && served[at] === "silent"));
}

/**
 * Renews what the steps say. All machines get their certificates and restart before any is waited for, since etcd has no
 * quorum until most of its members have valid ones.
 *
 * @throws Error with each machine that failed
 */
export async function renewEnded(session: Session, steps: readonly string[]): Promise<void> {
  const { cluster, inputs, progress } = session;
  const parsed = steps.map((text) => adminKubeconfigSteps.parse(text));
  const ended = inputs.machines.filter(({ name }) =>
    parsed.some(
      (step) => (step?.kind === "renewEnded" || step?.kind === "restartRenewed") && step.machine === name,
    ),
  );
  const each = async (what: string, work: (machine: Machine) => Promise<unknown>) => {
    const failures = await failuresOfEach(ended, what, async (machine) => void (await work(machine)));
    if (failures.length > 0) throw errorOf(failures);
  };
  await each("renew its certificates", (machine) =>
    session.run(machine, renewCertificatesScript(cluster, machine.name, "all"), { seconds: RENEW_SECONDS }),
  );
  if (ended.length > 0)
    progress("every certificate that had ended is renewed; waiting for the control planes");
  const { ready } = inputs.timeouts;
  await each("wait for its static pods", (machine) =>
    session.run(machine, awaitStaticPodsScript(cluster, machine.name, ready), {
      seconds: ready + SPARE_SECONDS,
    }),
  );
}

/**
 * Renews the administrator's certificate on a control plane, for a later read.
 *
 * @returns whether it is renewed; kubeadm can't without the key of the cluster's authority
 */
export async function renewAdmin(session: Session, machine: Machine): Promise<boolean> {
  const script = renewCertificatesScript(session.cluster, machine.name, "admin.conf");
  try {
    await session.run(machine, script, { seconds: RENEW_SECONDS });
    return true;
  } catch (error) {
    if (error instanceof RunInterrupted || error instanceof EngineGone) throw error;
    session.progress(
      `${machine.name}: the certificate in admin.conf ends soon and is not renewed: ${messageOf(error)}`,
    );
    return false;
  }
}
