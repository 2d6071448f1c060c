import type { StoredConnection } from "./state";

export interface PretendedSpec {
  readonly name: string;
  readonly vcpus: number;
  readonly mebibytes: number;
}

export interface PretendedImage {
  readonly name: string;
  readonly guestOs: string;
}

/** The machine types of every pretended cloud: three that Kubernetes fits on, one too small for it in each respect. */
const SPECS: readonly PretendedSpec[] = [
  { name: "t3.medium", vcpus: 2, mebibytes: 4096 },
  { name: "t3.large", vcpus: 2, mebibytes: 8192 },
  { name: "e2-standard-2", vcpus: 2, mebibytes: 8192 },
  { name: "one-vcpu", vcpus: 1, mebibytes: 4096 },
  { name: "one-gibibyte", vcpus: 2, mebibytes: 1024 },
];

/** Whatever they are called, they are the image of container nodes. */
const IMAGES: readonly PretendedImage[] = [
  { name: "debian-12", guestOs: "Debian 12" },
  { name: "ubuntu-22.04", guestOs: "Ubuntu 22.04" },
  { name: "ubuntu-2404-lts", guestOs: "Ubuntu 24.04" },
  { name: "ami-0123456789abcdef0", guestOs: "Ubuntu 24.04" },
];

/** What lies behind the server: the clouds' connections, machine types and images. */
export class PretendedClouds {
  readonly specs = SPECS;
  readonly images = IMAGES;

  constructor(readonly connections: readonly StoredConnection[]) {}

  connection(name: string): StoredConnection | undefined {
    return this.connections.find((each) => each.name === name);
  }

  spec(name: string): PretendedSpec | undefined {
    return this.specs.find((each) => each.name === name);
  }

  image(name: string): PretendedImage | undefined {
    return this.images.find((each) => each.name === name);
  }
}

/** A connection of a cloud's region, named as today's generation demands: by provider and region. */
export function connectionOf(provider: string, region: string, zone = `${region}a`): StoredConnection {
  return { name: `${provider}-${region}`, provider, region, zone: provider === "azure" ? "" : zone };
}
