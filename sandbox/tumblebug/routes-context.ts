import type { Balancers } from "./balancers";
import type { FakeClouds } from "./clouds";
import type { Durations } from "./durations";
import type { Lifecycle } from "./lifecycle";
import type { State } from "./state";
import type { Wire } from "./wire";

/** What the routes of VMs work with. */
export interface RoutesContext {
  readonly state: State;
  readonly clouds: FakeClouds;
  readonly wire: Wire;
  readonly lifecycle: Lifecycle;
  readonly durations: Durations;
  readonly balancers: Balancers;
  readonly balancerAddress: () => Promise<string>;
}
