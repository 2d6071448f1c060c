import type { Generation } from "../../providers/tumblebug/plan/model";
import type { FakeSpec } from "../../sandbox/tumblebug/clouds";
import type { ServerSettings } from "../../sandbox/tumblebug/server";
import type { StoredConnection } from "../../sandbox/tumblebug/state";

const SPECS: readonly FakeSpec[] = [
  { name: "mock-vmspec-01", vcpus: 4, mebibytes: 32768 },
  { name: "mock-vmspec-03", vcpus: 8, mebibytes: 62464 },
];
const SYSTEMS = ["Ubuntu 18.04", "CentOS 8", "Windows Server 2019", "Ubuntu 22.04", "Amazon Linux 2"];

/** The clouds of the recorded servers: CB-Spider's mock driver. */
export const MOCK_SETTINGS: Readonly<Record<Generation, Partial<ServerSettings>>> = {
  mcis: mockClouds(
    [{ name: "mock-config01", provider: "mock", region: "default", zone: "", regionName: "mock-region01" }],
    () => "TestGuestOS",
  ),
  infra: mockClouds(
    ["mock", "mock-site01"].map((provider) => ({
      ...{ name: `${provider}-default`, provider, region: "default", zone: "" },
    })),
    (index) => SYSTEMS[index] as string,
  ),
};

function mockClouds(
  connections: readonly StoredConnection[],
  system: (index: number) => string,
): Partial<ServerSettings> {
  const images = SYSTEMS.map((_, index) => ({ name: `mock-vmimage-0${index + 1}`, guestOs: system(index) }));
  // the mock driver deletes everything on request
  return { connections, clouds: { specs: SPECS, images, refusesInUse: false } };
}
