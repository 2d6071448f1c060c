import type { StoredConnection } from "./state";

export interface FakeSpec {
  readonly name: string;
  readonly vcpus: number;
  readonly mebibytes: number;
}

interface FakeImage {
  readonly name: string;
  readonly guestOs: string;
}

/** Options with which tests replace the default clouds. */
export interface CloudContents {
  readonly specs?: readonly FakeSpec[];
  readonly images?: readonly FakeImage[];
  /** whether a cloud refuses to delete objects that VMs and security groups use; default true */
  readonly refusesInUse?: boolean;
}

/**
 * The machine types of every simulated cloud: three that meet Kubernetes' requirements, and one too small in each
 * respect.
 */
const SPECS: readonly FakeSpec[] = [
  { name: "t3.medium", vcpus: 2, mebibytes: 4096 },
  { name: "t3.large", vcpus: 2, mebibytes: 8192 },
  { name: "e2-standard-2", vcpus: 2, mebibytes: 8192 },
  { name: "one-vcpu", vcpus: 1, mebibytes: 4096 },
  { name: "one-gibibyte", vcpus: 2, mebibytes: 1024 },
];

/** All of them stand for the image of container nodes. */
const IMAGES: readonly FakeImage[] = [
  { name: "debian-12", guestOs: "Debian 12" },
  { name: "ubuntu-22.04", guestOs: "Ubuntu 22.04" },
  { name: "ubuntu-2404-lts", guestOs: "Ubuntu 24.04" },
  { name: "ami-0123456789abcdef0", guestOs: "Ubuntu 24.04" },
];

/** The location of every simulated cloud, in the format of each generation. */
export const REF = {
  mcis: {
    latitude: "37.3",
    longitude: "126.9",
    briefAddr: "South Korea (Seoul)",
  },
  infra: { display: "Seoul", latitude: 37.5, longitude: 127 },
} as const;

/** The clouds behind the server: their connections, machine types and images. */
export class FakeClouds {
  readonly specs: readonly FakeSpec[];
  readonly images: readonly FakeImage[];
  readonly refusesInUse: boolean;

  constructor(
    readonly connections: readonly StoredConnection[],
    { specs = SPECS, images = IMAGES, refusesInUse = true }: CloudContents = {},
  ) {
    this.specs = specs;
    this.images = images;
    this.refusesInUse = refusesInUse;
  }

  connection(name: string): StoredConnection | undefined {
    return this.connections.find((each) => each.name === name);
  }

  spec(name: string): FakeSpec | undefined {
    return this.specs.find((each) => each.name === name);
  }

  image(name: string): FakeImage | undefined {
    return this.images.find((each) => each.name === name);
  }
}

/** Returns the name of a connection's region in CB-Spider. */
export function regionNameOf({ provider, region, regionName }: StoredConnection): string {
  return regionName ?? `${provider}-${region}`;
}

/** Returns a connection of a cloud's region, named by provider and region as the newer generation requires. */
export function connectionOf(provider: string, region: string, zone = `${region}a`): StoredConnection {
  return { name: `${provider}-${region}`, provider, region, zone: provider === "azure" ? "" : zone };
}
