import type { ExpectedStep } from "./story";

/** The steps that the join of workers brings in a preview. */
export const joins = (...workers: string[]): ExpectedStep[] => [
  ...workers.map((machine) => ({ kind: "join", machine })),
  { kind: "spreadDns" },
];

/** The steps that a member without a Node brings in a preview. */
export const registers = (machine: string): ExpectedStep[] => [
  { kind: "register", machine },
  { kind: "spreadDns" },
];

/** The removal of nodes that answer. */
export const removes = (...machines: string[]): ExpectedStep[] =>
  machines.map((machine) => ({ kind: "remove", machine }));

/** The return of foresail's own objects, each a kind and a name. */
export const restores = (...objects: [kind: string, name: string][]): ExpectedStep[] =>
  objects.map(([object, name]) => ({ kind: "restore", object, name }));

/** The steps that the join of control planes brings in a preview. */
export const joinsControlPlane = (...machines: string[]): ExpectedStep[] => [
  ...machines.map((machine) => ({ kind: "joinControlPlane", machine })),
  { kind: "spreadDns" },
];

/** The removal of control planes that answer. */
export const removesControlPlane = (...machines: string[]): ExpectedStep[] =>
  machines.map((machine) => ({ kind: "remove", machine, etcdMember: true }));

/** The steps by which machines get another configuration. */
export const configures = (...machines: string[]): ExpectedStep[] =>
  machines.map((machine) => ({ kind: "configure", machine }));
