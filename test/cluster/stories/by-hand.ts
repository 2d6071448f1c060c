import assert from "node:assert/strict";
import { awaitNode } from "../await-node";
import { askOverContext } from "../reachability";
import { traces } from "../traces";
import type { Action } from "./story";

const READY_SECONDS = 180;
const CONDITION_SECONDS = 60;

/** Runs kubectl as the administrator. */
export const kubectl =
  (...args: string[]): Action =>
  (cluster) =>
    askOverContext(cluster, undefined, args);

/** Runs a script on a machine as root, without SSH. */
export const on =
  (machine: string, script: string): Action =>
  (cluster) =>
    cluster.fleet.execute(machine, script);

export const stopUnit = (machine: string, unit: string): Action => on(machine, `systemctl stop ${unit}`);
export const startUnit = (machine: string, unit: string): Action => on(machine, `systemctl start ${unit}`);

export const sshOff = (machine: string): Action =>
  on(machine, "systemctl stop ssh.socket ssh 2>/dev/null || systemctl stop ssh");
export const sshOn = (machine: string): Action => on(machine, "systemctl start ssh");

/** A machine loses its power, and keeps its disk. */
export const powerOff =
  (machine: string): Action =>
  (cluster) =>
    cluster.fleet.kill(machine);
export const powerOn =
  (machine: string): Action =>
  (cluster) =>
    cluster.fleet.start(machine);

/** A machine is taken away with its disk: the configuration makes an empty one in its place. */
export const takenAway =
  (machine: string): Action =>
  (cluster) =>
    cluster.fleet.delete(machine);

/** What kubeadm's own documentation says for a machine that leaves a cluster. */
export const resetByHand = (machine: string): Action =>
  on(machine, "kubeadm reset --force >/dev/null 2>&1; rm -rf /etc/cni/net.d");

const awaitReady =
  (status: "True" | "not True", seconds: number) =>
  (name: string): Action =>
  (cluster) =>
    awaitNode(cluster, name, {
      what: `${name} to be ${status === "True" ? "Ready" : "not Ready"}`,
      seconds,
      decide: ({ status: observed }) => {
        const ready = observed?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
        return ready === (status === "True") ? undefined : `Ready is ${ready}`;
      },
    });

export const ready = awaitReady("True", READY_SECONDS);
export const notReady = awaitReady("not True", READY_SECONDS);

/** The Nodes of the cluster are exactly these. */
export const nodes =
  (...names: string[]): Action =>
  async (cluster) => {
    const listed = await cluster.withApi((client) => client.listNodes());
    assert.deepEqual(listed.map(({ metadata }) => metadata?.name).sort(), [...names].sort());
  };

/** Nothing of the cluster is left on a machine. */
export const clean =
  (machine: string): Action =>
  async (cluster) =>
    assert.deepEqual(await traces(cluster, machine), [], machine);

/** Pods on these nodes reach each other. */
export const podsOn =
  (...names: string[]): Action =>
  (cluster) =>
    cluster.check(names);

/** A Node has a label with this value. */
export const label =
  (name: string, key: string, value: string): Action =>
  async (cluster) => {
    const node = await cluster.withApi((client) => client.getNode(name));
    assert.equal(node?.metadata?.labels?.[key], value, `${key} of ${name}`);
  };

/** A Node has a taint with this key. */
export const taint =
  (name: string, key: string): Action =>
  async (cluster) => {
    const node = await cluster.withApi((client) => client.getNode(name));
    const keys = (node?.spec?.taints ?? []).map((each) => each.key);
    assert.ok(keys.includes(key), `${name} has ${keys.join(", ")}`);
  };

/** A Node takes no new pods. */
export const cordoned =
  (name: string): Action =>
  (cluster) =>
    awaitNode(cluster, name, {
      what: `${name} to be cordoned`,
      seconds: CONDITION_SECONDS,
      decide: ({ spec }) => (spec?.unschedulable === true ? undefined : "it is not"),
    });

/** A Node has an annotation with any value. */
export const annotation =
  (name: string, key: string): Action =>
  (cluster) =>
    awaitNode(cluster, name, {
      what: `${key} of ${name}`,
      seconds: CONDITION_SECONDS,
      decide: ({ metadata }) => (metadata?.annotations?.[key] === undefined ? "it is absent" : undefined),
    });
