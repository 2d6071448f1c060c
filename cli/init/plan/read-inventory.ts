import { isObject } from "../../../lib/json";
import { parseYaml } from "../../../lib/yaml";
import type { Inventory } from "./inventory";
import { readKubesprayIni, readKubesprayYaml } from "./kubespray";
import { readMachineList } from "./machine-list";
import { readK0sctl, readKubeone } from "./other-tools";

/** What a running cluster needs instead, by the tool whose file was read. */
const ADOPT =
  "if these machines run the cluster now, use `foresail adopt` instead: it takes the running cluster over";

/**
 * Reads a list of machines in any of its formats, which its content tells: a line for each machine, an inventory of
 * kubespray (INI or YAML), k0sctl.yaml or kubeone.yaml.
 *
 * @throws InventoryError
 */
export function readInventory(text: string): Inventory {
  if (/^\[(kube_control_plane|kube-master)(:children)?\]/m.test(text))
    return adoptable(readKubesprayIni(text));
  const content = parseYaml(text);
  if (!isObject(content)) return readMachineList(text);
  if (content["kind"] === "KubeOneCluster") return adoptable(readKubeone(content));
  if (String(content["apiVersion"]).startsWith("k0sctl.")) return readK0sctl(content);
  return isObject(content["all"]) ? adoptable(readKubesprayYaml(content)) : readMachineList(text);
}

const adoptable = (inventory: Inventory): Inventory => ({
  ...inventory,
  notes: [ADOPT, ...inventory.notes],
});
