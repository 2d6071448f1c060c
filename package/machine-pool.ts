/** What other Pulumi programs import from `foresail/machine-pool`: a pool of machines of Cluster API. */
export { MachinePool } from "../components/machine-pool/machine-pool";
export type {
  MachinePoolArgs,
  MachinePoolTimeouts,
  PoolObjectArgs,
} from "../components/machine-pool/machine-pool-args";
export type { Counts } from "../providers/machine-pool/plan/observed";
export type { PoolNode } from "../providers/machine-pool/resources/machine-pool-ready";
