import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";

/** A simulated connection to one region of one cloud. */
export interface StoredConnection {
  readonly name: string;
  /** in lower case, such as "aws" */
  readonly provider: string;
  readonly region: string;
  readonly zone: string;
  /** CB-Spider's name for the region; default `<provider>-<region>` */
  readonly regionName?: string;
}

export const RESOURCE_KINDS = ["vNet", "securityGroup", "sshKey", "image", "spec"] as const;
export type StoredResourceKind = (typeof RESOURCE_KINDS)[number];

/** An object of a namespace; fields of only some kinds are "" or empty in the others. */
export interface StoredResource {
  readonly kind: StoredResourceKind;
  /** whether it was deleted in the cloud, which the server has not noticed */
  isGone?: boolean;
  readonly id: string;
  readonly name: string;
  readonly connection: string;
  readonly description: string;
  readonly cloudId: string;
  readonly uid: string;
  /** in the format of RFC 3339 */
  readonly createdTime: string;
  readonly cidr: string;
  readonly subnets: readonly { readonly name: string; readonly cidr: string; readonly zone: string }[];
  /** of a security group, as named in the request */
  readonly vNet: string;
  readonly rules: readonly {
    readonly from: string;
    readonly to: string;
    readonly protocol: string;
    readonly direction: string;
    readonly cidr: string;
  }[];
  readonly username: string;
  readonly publicKey: string;
  readonly privateKey: string;
  /** the cloud's name of the image or machine type */
  readonly cloudName: string;
  readonly guestOs: string;
  readonly vcpus: number;
  readonly mebibytes: number;
}

export type MachineState =
  "Creating" | "Running" | "Suspended" | "Failed" | "Terminating" | "Terminated" | "Undefined";

export interface StoredMachine {
  readonly id: string;
  readonly uid: string;
  readonly group: string;
  status: MachineState;
  targetStatus: string;
  targetAction: string;
  systemMessage: string;
  /** whether the cloud ever created it; a VM that failed before has neither addresses nor a name there */
  isMade: boolean;
  /** whether it ended in the cloud, which the server may not have noticed */
  hasEnded: boolean;
  /** in the server's time format; "" until it is created */
  createdTime: string;
  publicAddress: string;
  privateAddress: string;
  sshPort: number;
  readonly connection: string;
  readonly spec: string;
  readonly image: string;
  /** the cloud's name of the image; "" when the request left it to the registered one */
  readonly cloudImage: string;
  readonly vNet: string;
  readonly subnet: string;
  readonly securityGroups: readonly string[];
  readonly sshKey: string;
  readonly user: string;
  readonly rootDiskType: string;
  readonly rootDiskSize: string;
  /** text or a map, depending on the generation */
  readonly label: unknown;
  readonly description: string;
}

export interface StoredBalancer {
  readonly group: string;
  readonly uid: string;
  readonly createdTime: string;
  readonly type: string;
  readonly scope: string;
  readonly port: number;
  readonly targetPort: number;
  readonly address: string;
  machines: string[];
}

export interface StoredInfrastructure {
  readonly id: string;
  readonly uid: string;
  readonly description: string;
  readonly label: unknown;
  targetStatus: string;
  targetAction: string;
  /** the number of the last recorded VM of each group */
  lastNumbers: Record<string, number>;
  machines: StoredMachine[];
  balancers: StoredBalancer[];
}

export interface StoredNamespace {
  readonly id: string;
  readonly description: string;
  resources: StoredResource[];
  infrastructures: StoredInfrastructure[];
}

interface Content {
  namespaces: StoredNamespace[];
}

/** Returns a unique name in the server's format. */
export function newUid(): string {
  return `tb${randomBytes(9).toString("hex")}`;
}

/** The server's state in one file, so that it survives the process. */
export class State {
  private content: Content;
  private readonly file: string;

  constructor(folder: string) {
    this.file = path.join(folder, "state.json");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.content = existsSync(this.file)
      ? (JSON.parse(readFileSync(this.file, "utf8")) as Content)
      : { namespaces: [] };
  }

  get namespaces(): StoredNamespace[] {
    return this.content.namespaces;
  }

  namespace(id: string): StoredNamespace | undefined {
    return this.content.namespaces.find((namespace) => namespace.id === id);
  }

  infrastructure(namespace: string, id: string): StoredInfrastructure | undefined {
    return this.namespace(namespace)?.infrastructures.find((each) => each.id === id);
  }

  resource(namespace: string, kind: StoredResourceKind, id: string): StoredResource | undefined {
    return this.namespace(namespace)?.resources.find((each) => each.kind === kind && each.id === id);
  }

  /** Returns every machine with its namespace and infrastructure. */
  machines(): { namespace: string; infrastructure: StoredInfrastructure; machine: StoredMachine }[] {
    return this.content.namespaces.flatMap((namespace) =>
      namespace.infrastructures.flatMap((infrastructure) =>
        infrastructure.machines.map((machine) => ({ namespace: namespace.id, infrastructure, machine })),
      ),
    );
  }

  /** Writes changes; responses are sent only after this. */
  save(): void {
    writeFileSync(`${this.file}.part`, JSON.stringify(this.content, undefined, 1), { mode: 0o600 });
    renameSync(`${this.file}.part`, this.file);
  }
}
