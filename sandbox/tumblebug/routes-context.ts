import type { Balancers } from "./balancers";
import type { FakeClouds } from "./clouds";
import type { Durations } from "./durations";
import type { Faults } from "./faults";
import type { Lifecycle } from "./lifecycle";
import type { State } from "./state";
import type { Wire } from "./wire";

/** The context of the routes for VMs. */
export interface RoutesContext {
  readonly state: State;
  readonly clouds: FakeClouds;
  readonly wire: Wire;
  readonly lifecycle: Lifecycle;
  readonly faults: Faults;
  readonly durations: Durations;
  readonly balancers: Balancers;
  readonly balancerAddress: () => Promise<string>;
}
