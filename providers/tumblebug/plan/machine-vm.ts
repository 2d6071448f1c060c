import type { VirtualMachine } from "./model";

/** A machine that has come up. */
export interface MachineVm {
  /** The server's name of the VM. */
  vm: string;
  publicAddress: string;
  privateAddress: string;
  sshPort: number;
  /** Who logs in. */
  user: string;
  region: string;
  zone: string;
  connection: string;
}

/** What a cluster needs to know of a VM that has come up. @param fallbackUser when the server names none */
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
