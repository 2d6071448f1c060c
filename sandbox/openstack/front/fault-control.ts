import type { CloudSettings, ServiceName } from "../settings";
import type { Effect, Fault, HeldFault } from "./fault";
import type { PassedRequest } from "./front";

/** Makes the APIs of a running cloud fail, for tests. */
export class FaultControl {
  constructor(private readonly settings: Pick<CloudSettings, "ports" | "passwords">) {}

  /** Requests a fault; it stays active until it has happened as often as requested, or until `clear`. */
  async add(fault: Fault): Promise<HeldFault> {
    return (await this.call("POST", "/faults", fault)) as HeldFault;
  }

  /** The next requests get this effect. */
  async next(service: ServiceName, effect: Effect, filter: Pick<Fault, "method" | "path" | "times"> = {}) {
    return this.add({ service, effect, times: 1, ...filter });
  }

  /** Every connection to the service is cut until `clear`. */
  async down(service: ServiceName): Promise<void> {
    await this.add({ service, effect: { kind: "refused" } });
  }

  /** Removes all faults. */
  async clear(): Promise<void> {
    await this.call("DELETE", "/faults");
  }

  /** Returns the faults that were requested since the last `clear`, and how often each happened. */
  async list(): Promise<HeldFault[]> {
    return ((await this.call("GET", "/")) as { faults: HeldFault[] }).faults;
  }

  /** Returns the newest 5,000 requests of clients since the cloud's start or the last `forgetRequests`. */
  async requests(): Promise<PassedRequest[]> {
    return ((await this.call("GET", "/")) as { requests: PassedRequest[] }).requests;
  }

  async forgetRequests(): Promise<void> {
    await this.call("DELETE", "/requests");
  }

  private async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${this.settings.ports.control}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.settings.passwords.control}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`the cloud's front answered ${response.status} to ${method} ${path}`);
    return response.json();
  }
}
