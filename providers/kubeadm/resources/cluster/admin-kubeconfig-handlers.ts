import { X509Certificate } from "node:crypto";
import { isReady } from "../../../../lib/kubernetes/api-server-health";
import type { AdminCredentials } from "../../machine/cluster/kubeconfig";
import { adminKubeconfigScript } from "../../machine/steps";
import { daysUntil, endsWithin } from "../../plan/certificates/report";
import { renewalDays } from "../../plan/certificates/validity";
import { adminKubeconfigSteps } from "../../plan/steps";
import { isKnown, isKnownList } from "../../../../lib/unknown";
import { hasRotatedKey, withoutCredentials, type Machine } from "../../plan/cluster/machine";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { firstAdminCredentials } from "../session/admin-credentials";
import { assertNotReset } from "./reset-machines";
import { firstReady, withMachines } from "../session/machines-session";
import { report } from "../../../../lib/pulumi/log";
import type { AdminKubeconfigInputs as Inputs, AdminKubeconfigOutputs as Outputs } from "../declarations";

/** How long to wait for a control plane to answer that it is ready, before another one is used instead. */
const PATIENCE_MILLISECONDS = 8000;

const nameOf = ({ specification }: Inputs) => `AdminKubeconfig ${specification.name}`;

/** Returns when the client certificate ends, as UTC. */
function endOf(admin: AdminCredentials): string {
  const { validTo } = new X509Certificate(Buffer.from(admin.clientCertificate, "base64"));
  return new Date(validTo).toISOString();
}

/** Reads admin.conf from the first control plane that returns it, beginning with one whose API server is ready. */
async function readAdmin(inputs: Inputs, isNew = false): Promise<Outputs> {
  const preferred = await firstReady(inputs.machines);
  const others = inputs.machines.filter((machine) => machine !== preferred);
  return withMachines(nameOf(inputs), inputs, async (session) => {
    if ((inputs.steps ?? []).length > 0) {
      const { renewEnded } = await import("../certificates/expired.js");
      await renewEnded(session, inputs.steps ?? []);
    }
    const candidates = preferred ? [preferred, ...others] : others;
    const { admin, machine } = await firstAdminCredentials(
      session,
      candidates,
      adminKubeconfigScript,
      session.progress,
    ).catch(async (error: unknown) => {
      if (isNew) await assertNotReset(session, candidates.slice(0, 1));
      throw error;
    });
    const outputs = { ...inputs, admin, healthy: machine.name };
    if (endsWithin(endOf(admin), renewalDays(inputs.specification), new Date())) {
      const { renewAdmin } = await import("../certificates/expired.js");
      if (await renewAdmin(session, machine))
        outputs.admin = (await firstAdminCredentials(session, [machine], adminKubeconfigScript)).admin;
    }
    return withoutCredentials(outputs);
  });
}

/**
 * Returns the control plane that replaces one that does not answer; undefined if that one answers, however late, or if
 * no other does. So a slow answer alone does not change the kubeconfig, and without any answer a preview waits no
 * longer than `firstReady`.
 */
async function substituteOf(
  current: Machine | undefined,
  machines: readonly Machine[],
): Promise<string | undefined> {
  if (!current) return undefined;
  const answer = isReady(current.apiServer, PATIENCE_MILLISECONDS);
  const others = firstReady(machines.filter((machine) => machine !== current));
  if (await Promise.race([answer, others.then(() => false)])) return undefined;
  const other = await others;
  return other === undefined || (await answer) ? undefined : other.name;
}

export const handlers: Handlers = {
  async check(olds: Partial<Outputs>, news: Inputs) {
    const { steps: _, ...inputs } = news;
    // a preview without the machines' addresses can't ask them
    if (olds.machines === undefined || !isKnownList(news.machines) || !isKnown(news.specification))
      return { inputs, failures: [] };
    const { readRepairs } = await import("../certificates/expired.js");
    const steps = await readRepairs(nameOf(news), inputs);
    const lines = steps.map(adminKubeconfigSteps.format);
    for (const line of lines) report(nameOf(news), line);
    return { inputs: lines.length > 0 ? { ...inputs, steps: lines } : inputs, failures: [] };
  },

  async diff(_id, olds: Outputs, news: Inputs) {
    const resource = nameOf(news);
    const [end, now] = [endOf(olds.admin), new Date()];
    if (endsWithin(end, renewalDays(news.specification), now)) {
      const days = daysUntil(end, now);
      report(
        resource,
        `reads the credentials again, since the certificate expires in ${days} days, and renews that in admin.conf before if it does, too`,
      );
      return { changes: true };
    }
    if ((news.steps ?? []).length > 0) return { changes: true };
    // as in the rendered kubeconfig: if the named one has left the configuration, the first one is current
    const current = news.machines.find(({ name }) => name === olds.healthy) ?? news.machines[0];
    const substitute = await substituteOf(current, news.machines);
    if (substitute)
      report(resource, `reads the credentials from ${substitute}: ${current?.name} does not answer`);
    return { changes: substitute !== undefined || hasRotatedKey(olds, news) };
  },

  async create(inputs: Inputs) {
    return { id: inputs.specification.name, outs: await readAdmin(inputs, true) };
  },

  async update(_id, _olds: Outputs, news: Inputs) {
    return { outs: await readAdmin(news) };
  },
};
