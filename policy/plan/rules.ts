import { oddControlPlanes, protectedControlPlanes } from "./control-planes";
import { boundedDisruption } from "./disruption";
import { pinnedHostKeys } from "./host-keys";
import type { ResourceRule, StackRule } from "./rule";
import { secretOutputs } from "./secret-outputs";
import { supportedVersions, versionSkew } from "./versions";
import { backups, disruptionBudgets } from "./workloads";
import { worldOpenAccess } from "./world-open-access";

/**
 * Returns the rules of the pack. Their defaults are meant for production.
 *
 * @param today YYYY-MM-DD
 */
export const packRules = (today: string) => ({
  resources: [
    worldOpenAccess,
    oddControlPlanes,
    protectedControlPlanes,
    supportedVersions(today),
    pinnedHostKeys,
    boundedDisruption,
  ] as ResourceRule<never>[],
  stack: [secretOutputs, versionSkew, backups, disruptionBudgets] as StackRule<never>[],
});
