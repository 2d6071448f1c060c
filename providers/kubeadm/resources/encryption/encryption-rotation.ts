import { KubernetesError } from "../../../../lib/kubernetes";
import { SshUnreachable } from "../../../../lib/ssh/errors";
import {
  encryptionKeyScript,
  encryptionKeysScript,
  encryptionStaleScript,
  encryptionStatusScript,
  parseEncryptionKeys,
} from "../../machine/encryption/encryption-steps";
import {
  type EncryptionKeys,
  type KeyChange,
  keyGeneration,
  keyName,
  nextPhase,
  refuseDifferentKeys,
} from "../../plan/encryption/encryption";
import type { Machine } from "../../plan/cluster/machine";
import { ClusterSession } from "../session/cluster-session";
import type { EncryptionKeyInputs } from "../declarations";
import { allInParallel } from "../session/machines-session";
import { observeNodes } from "../membership/observed-nodes";

/** Time for a step beyond the wait for its API server. */
const SPARE_SECONDS = 30;
/** How long counting the Secrets in etcd may take: thousands of them are read page by page. */
const COUNT_SECONDS = 300;

type Session = ClusterSession<EncryptionKeyInputs>;

/**
 * Rotates the key for Secrets at rest, phase by phase, from any state that a killed run has left.
 *
 * @throws Error when a control plane can't be reached, or is not in the configuration; the error of the first control
 *   plane whose API server does not become ready, before another one is changed
 */
export async function rotateKey(resource: string, inputs: EncryptionKeyInputs): Promise<void> {
  const session = await ClusterSession.open(resource, inputs);
  try {
    const target = keyName(keyGeneration(inputs.specification));
    await refuseUnmanaged(session);
    for (let rewritten = false; ;) {
      const observed = await observeKeys(session);
      const refusal = refuseDifferentKeys(observed);
      if (refusal) throw new Error(refusal);
      const next = nextPhase(observed, target, rewritten);
      if (next === undefined) return;
      if (next.phase === "rewrite") {
        await rewriteSecrets(session, target);
        rewritten = true;
        continue;
      }
      // the first control plane creates the key, unless one has it; the others get it from there
      let source = observed.find(({ file }) => file.some(({ name }) => name === target))?.machine;
      for (const change of next.changes) {
        await session.assertMayGoOn();
        await writeKeys(session, change, target, source);
        source ??= change.machine;
      }
    }
  } finally {
    await session.end();
  }
}

/** Refuses while the cluster has a control plane that would not get the new key. */
async function refuseUnmanaged({ kubernetes, inputs }: Session): Promise<void> {
  const known = inputs.machines.map(({ name }) => name);
  const nodes = await observeNodes(kubernetes);
  const others = nodes.filter(({ name, controlPlane }) => controlPlane && !known.includes(name));
  if (others.length === 0) return;
  const names = others.map(({ name }) => name).join(", ");
  throw new Error(
    `the cluster has control planes that are not in the configuration and would not get the new key: ${names}; ` +
      "delete the Node of each that is gone, or remove it from the cluster",
  );
}

/** Reads the keys of every control plane. @throws Error when one does not answer: it would keep its old keys */
async function observeKeys(session: Session): Promise<EncryptionKeys[]> {
  return Promise.all(
    session.inputs.machines.map(async (machine) => {
      const answer = await session.run(machine, encryptionStatusScript).catch((error: unknown) => {
        if (!(error instanceof SshUnreachable)) throw error;
        throw new Error(
          `${machine.name} can't be reached, and a rotation changes every control plane: ${error.message} ` +
            "Start it, or remove it from the configuration and list it under `lost` if it is gone.",
          { cause: error },
        );
      });
      return parseEncryptionKeys(machine.name, answer);
    }),
  );
}

/**
 * Gives one control plane its keys, and waits until its API server has read them.
 *
 * @param source name of a control plane that has the new key; undefined while none has it
 */
async function writeKeys(
  session: Session,
  { machine: name, keys }: KeyChange,
  target: string,
  source: string | undefined,
): Promise<void> {
  const { cluster, inputs, progress } = session;
  const { ready } = inputs.timeouts;
  const machineOf = (wanted: string) => inputs.machines.find((each) => each.name === wanted) as Machine;
  const read = source && session.run(machineOf(source), encryptionKeyScript(cluster, source, target));
  const change = { keys, mayCreate: source === undefined, seconds: ready };
  const script = encryptionKeysScript(cluster, name, change);
  await session.run(machineOf(name), script, {
    seconds: ready + SPARE_SECONDS,
    data: `${(await read) ?? ""}\n`,
  });
  progress(`${name}: its API server has read the encryption keys ${keys.join(", ")}`);
}

/** Writes every Secret again, so that the first key encrypts it. @throws Error when another key still encrypts one */
async function rewriteSecrets(session: Session, target: string): Promise<void> {
  const { kubernetes, inputs, progress, cluster } = session;
  const [first] = inputs.machines as [Machine];
  const countStale = async () => {
    const script = encryptionStaleScript(cluster, first.name, target);
    return Number(await session.run(first, script, { seconds: COUNT_SECONDS }));
  };
  if ((await countStale()) === 0) return;
  const kind = { apiVersion: "v1", kind: "Secret" };
  const secrets = await kubernetes.listMetadata(kind);
  progress(`rewriting ${secrets.length} Secrets`);
  await allInParallel(secrets, async ({ metadata }) => {
    session.waiting.signal.throwIfAborted();
    const { namespace, name = "" } = metadata ?? {};
    // the API server stores an unchanged object again if another key than its first one encrypts it
    await kubernetes.mergePatch({ ...kind, namespace, name }, {}).catch((error: unknown) => {
      if (!(error instanceof KubernetesError) || error.status !== 404) throw error;
    });
  });
  const left = await countStale();
  if (left > 0) throw new Error(`${left} Secrets are not encrypted with ${target} after they were rewritten`);
  progress(`every Secret is encrypted with ${target}`);
}
