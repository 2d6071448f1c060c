import type { VirtualMachine } from "./model";

/** The running VM of a machine. */
export interface MachineVm {
  /** Name of the VM on the server. */
  vm: string;
  publicAddress: string;
  privateAddress: string;
  sshPort: number;
  /** SSH user. */
  user: string;
  region: string;
  zone: string;
  connection: string;
}

/** Returns the fields of a running VM that the cluster needs. @param fallbackUser used if the server reports none */
export function machineVm(vm: VirtualMachine, fallbackUser: string): MachineVm {
  return {
    vm: vm.name,
    publicAddress: vm.publicAddress ?? "",
    privateAddress: vm.privateAddress ?? "",
    sshPort: vm.sshPort,
    user: vm.user === "" ? fallbackUser : vm.user,
    region: vm.region,
    zone: vm.zone,
    connection: vm.connection,
  };
}
