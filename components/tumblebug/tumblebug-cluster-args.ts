import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { withCurrentNames } from "../../lib/pulumi/arguments";
import type { ValidationIssue } from "../../lib/validation/validation-issue";
import { defaultNodeAddresses, TUMBLEBUG_CLUSTER_RENAMES } from "../../providers/tumblebug/plan/validation";
import { MOST_GROUPS, MOST_MACHINES, whole } from "../../stacks/schema/rule";
import { TumblebugSection, tumblebugRules } from "../../stacks/schema/tumblebug";
import { asWritten, ofSection, orEmptyText } from "../arguments";
import type { MachineGroup } from "../../providers/tumblebug/plan/groups";
import type { Generation } from "../../providers/tumblebug/plan/model";
import {
  asInStackFile,
  type CheckedClusterOn,
  checkedOnMachines,
  type ClusterOnArgs,
  onMachines,
} from "../kubeadm/cluster-on-machines";
import type { EndpointArgs } from "../kubeadm/kubeadm-cluster-args";

/** Options for the CB-Tumblebug server. */
export interface ServerArgs {
  /** URL with the path: "http://localhost:1323/tumblebug". */
  address: string;
  /** Whether to accept plain http to another host, although the network then sees the credentials. @default false */
  allowHttp?: boolean;
  /** API generation. @default detected from the server */
  generation?: Generation | "auto";
  /** @default $TUMBLEBUG_USERNAME and $TUMBLEBUG_PASSWORD */
  credentials?: pulumi.Input<{ username: string; password: string }>;
  /** PEM certificates to trust in addition to the system's. */
  caBundle?: string;
}

/** CIDR blocks that may connect to the machines. */
export interface AccessArgs {
  ssh: string[];
  api: string[];
  nodePorts: string[];
  /** Public blocks of machines in other connections, if nodes communicate over the Internet. */
  nodes: string[];
}

/** How nodes connect to the API servers; `nlb` is a cloud load balancer that the stack creates. */
export type TumblebugEndpointArgs = EndpointArgs | { nlb: { port: number } };

type Section = z.input<typeof TumblebugSection>;
type Server = "address" | "allowHttp" | "generation" | "caBundle";

/** The fields of a stack file's section `tumblebug`, with the same rules and defaults (docs/configuration.md). */
export interface TumblebugClusterArgs
  extends Omit<Section, Server | "access" | "endpoint">, Partial<Pick<Section, Server>> {
  /** The server as one value. @deprecated its fields beside the others, as in a stack file */
  server?: ServerArgs;
  /** @default $TUMBLEBUG_USERNAME and $TUMBLEBUG_PASSWORD */
  credentials?: ServerArgs["credentials"];
  endpoint?: Section["endpoint"] | TumblebugEndpointArgs;
  access: Partial<AccessArgs> & Pick<AccessArgs, "ssh" | "api">;
  /** SSH port of the machines; the firewall opens it. @default the port that the server reports for each VM, firewall: 22 */
  sshPort?: number;
  /** The cluster on the machines. */
  cluster: ClusterOnArgs;
}

const { access, caBundle, groups, lost, resources } = TumblebugSection.shape;
const Resources = resources.unwrap();

/** Schema of the arguments. */
const TumblebugArguments = TumblebugSection.extend({
  ...onMachines("tumblebug", access),
  // wider than in a stack file, as in 0.1.0
  caBundle: orEmptyText(caBundle).optional(),
  groups: z
    .array(groups.element.extend({ replicas: whole(0, MOST_MACHINES) }))
    .min(1)
    .max(MOST_GROUPS),
  lost: z.array(orEmptyText(lost.unwrap().element)).default([]),
  resources: Resources.extend({ prefix: orEmptyText(Resources.shape.prefix).optional() }).prefault({}),
  credentials: z.custom<ServerArgs["credentials"]>().optional(),
});

/** Checked arguments with their defaults. */
export interface CheckedTumblebug extends Omit<
  z.output<typeof TumblebugArguments>,
  Server | "credentials" | "endpoint" | "groups" | "nodeAddresses" | "cluster"
> {
  server: ServerArgs;
  groups: MachineGroup[];
  nodeAddresses: "private" | "public";
  endpoint: TumblebugEndpointArgs;
  cluster: CheckedClusterOn;
}

/**
 * Returns the arguments by the current names, checked and with the defaults of a stack file.
 *
 * @throws pulumi.InputPropertiesError with all issues
 */
export function checkedTumblebug(name: string, given: TumblebugClusterArgs): CheckedTumblebug {
  const current = withCurrentNames(`TumblebugCluster ${name}`, given, TUMBLEBUG_CLUSTER_RENAMES);
  const { server: written, ...named } = current;
  const args = { ...named, ...written };
  const checked = checkedOnMachines("TumblebugCluster", name, TumblebugArguments, args, {
    plain: [...Object.keys(TumblebugSection.shape).filter((name) => name !== "endpoint"), "endpoint.nlb"],
    rules: ({ cluster, ...tumblebug }) => {
      const sections = { tumblebug, cluster: { ...asInStackFile(cluster), name } };
      return ofSection("tumblebug", tumblebugRules(sections, written ? "server.allowHttp" : "allowHttp"));
    },
    ...(written ? { place: ofServer(written) } : {}),
  });
  const { address, allowHttp, generation, credentials, caBundle, ...others } = checked;
  const server = {
    address,
    allowHttp,
    generation,
    ...(credentials === undefined ? {} : { credentials }),
    ...(caBundle === undefined ? {} : { caBundle }),
  };
  return {
    ...others,
    server: asWritten(server, written ?? server),
    nodeAddresses: checked.nodeAddresses ?? defaultNodeAddresses(checked.groups),
  } as CheckedTumblebug;
}

/** Returns what names the fields of the server as a program with `server` writes them. */
const ofServer =
  (server: ServerArgs) =>
  ({ path, message }: ValidationIssue): ValidationIssue => {
    const [field = ""] = path;
    const isOfServer = ["address", ...Object.keys(server)].includes(String(field));
    return { path: isOfServer ? ["server", ...path] : path, message };
  };
