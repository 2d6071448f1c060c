import { internalUrl, publicUrl, REGION, SERVICE_USER } from "./configuration/common";
import type { CloudSettings, ServiceName } from "./settings";

/** Names that a stack on this cloud uses. */
export const CLOUD_NAMES = {
  /** The entry of clouds.yaml with an application credential of the project. */
  cloud: "foresail-sandbox",
  /** The entry of the project's user with a password, who may make application credentials. */
  user: "foresail-sandbox-user",
  /** The entry of the administrator. */
  administrator: "foresail-sandbox-admin",
  /** The administrator's entry for the cloud's own parts. */
  internal: "foresail-sandbox-internal",
  image: "foresail-node",
  flavor: "foresail.small",
  largerFlavor: "foresail.medium",
  /** More than any host provides. */
  impossibleFlavor: "foresail.impossible",
  volumeType: "foresail.ssd",
  publicNetwork: "public",
  project: "foresail",
  zone: "nova",
} as const;

/** The user who owns what the project's application credential creates. */
export const PROJECT_USER = "foresail";

/** The initial quota of the project. */
const FIRST_QUOTA = {
  compute: {
    instances: 120,
    cores: 480,
    ram: 1_048_576,
    key_pairs: 100,
    server_groups: 50,
    server_group_members: 120,
  },
  network: {
    networks: 20,
    subnets: 20,
    ports: 400,
    routers: 10,
    floating_ips: 100,
    security_groups: 50,
    security_group_rules: 500,
  },
  volume: { volumes: 120, gigabytes: 10_000, per_volume_gigabytes: 1_000 },
} as const;

/** The input of python/seed.py. */
interface Seed {
  readonly region: string;
  /** Arguments of openstacksdk's connect(). */
  readonly administrator: Readonly<Record<string, unknown>>;
  readonly service: { readonly user: string; readonly password: string };
  readonly catalog: readonly { type: string; name: ServiceName; public: string; internal: string }[];
  readonly project: {
    readonly name: string;
    readonly user: string;
    readonly password: string;
    readonly roles: readonly string[];
  };
  readonly quota: {
    readonly compute: Readonly<Record<string, number>>;
    readonly network: Readonly<Record<string, number>>;
    readonly volume: Readonly<Record<string, number>>;
  };
  /** Empty if the cloud has no volumes. */
  readonly volumeTypes: readonly string[];
  readonly flavors: readonly { name: string; vcpus: number; ram: number; disk: number }[];
  readonly image: string;
  readonly public: { name: string; cidr: string; gateway: string; first: string; last: string };
  readonly credential: { readonly name: string; readonly secret: string };
}

/** Returns the addresses of the external network: a /24 whose first address is this machine's. */
export function publicAddresses(cidr: string): { gateway: string; first: string; last: string } {
  const prefix = /^(\d+\.\d+\.\d+)\.0\/24$/.exec(cidr)?.[1];
  if (prefix === undefined) throw new Error(`${cidr} is not a /24, which the external network has to be`);
  return { gateway: `${prefix}.1`, first: `${prefix}.10`, last: `${prefix}.250` };
}

/** Returns the initial content of the sandbox's cloud. */
export function planSeed(settings: CloudSettings): Seed {
  const entry = (type: string, name: ServiceName, path = "") => ({
    type,
    name,
    public: `${publicUrl(settings, name)}${path}`,
    internal: `${internalUrl(settings, name)}${path}`,
  });
  return {
    region: REGION,
    administrator: {
      auth: administratorLogin(settings, internalUrl(settings, "keystone")),
      region_name: REGION,
      interface: "internal",
    },
    service: { user: SERVICE_USER, password: settings.passwords.service },
    catalog: [
      entry("identity", "keystone", "/v3"),
      entry("compute", "nova", "/v2.1"),
      entry("placement", "placement"),
      entry("network", "neutron"),
      entry("image", "glance"),
      ...(settings.octavia ? [entry("load-balancer", "octavia")] : []),
      ...(settings.cinder ? [entry("block-storage", "cinder", "/v3")] : []),
    ],
    project: {
      name: CLOUD_NAMES.project,
      user: PROJECT_USER,
      password: settings.passwords.project,
      roles: ["member", "load-balancer_member"],
    },
    quota: FIRST_QUOTA,
    flavors: [
      { name: CLOUD_NAMES.flavor, vcpus: 2, ram: 2048, disk: 20 },
      { name: CLOUD_NAMES.largerFlavor, vcpus: 4, ram: 4096, disk: 40 },
      { name: CLOUD_NAMES.impossibleFlavor, vcpus: 4, ram: 8192, disk: 1_000_000 },
    ],
    volumeTypes: settings.cinder ? [CLOUD_NAMES.volumeType] : [],
    image: CLOUD_NAMES.image,
    public: {
      name: CLOUD_NAMES.publicNetwork,
      cidr: settings.publicCidr,
      ...publicAddresses(settings.publicCidr),
    },
    credential: { name: "foresail", secret: settings.passwords.credential },
  };
}

/** Returns the login of the project's user. */
export function userLogin(settings: CloudSettings, keystone: string): Record<string, string> {
  return {
    auth_url: `${keystone}/v3`,
    username: PROJECT_USER,
    password: settings.passwords.project,
    project_name: CLOUD_NAMES.project,
    user_domain_name: "Default",
    project_domain_name: "Default",
  };
}

/** Returns the login of the administrator. */
export function administratorLogin(settings: CloudSettings, keystone: string): Record<string, string> {
  return {
    auth_url: `${keystone}/v3`,
    username: "admin",
    password: settings.passwords.administrator,
    project_name: "admin",
    user_domain_name: "Default",
    project_domain_name: "Default",
  };
}
