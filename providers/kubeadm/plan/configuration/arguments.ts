import { isObject } from "../../../../lib/json";
import { valueAt } from "../../../../lib/validation/validation-issue";

/** An argument of a program of Kubernetes, as far as it is readable. */
interface Argument {
  name: string;
  value: string | undefined;
}

/**
 * Returns the arguments of a list, each at its own index; none where there is no list.
 *
 * @param place path below `kubeadm`, such as "clusterConfiguration.apiServer.extraArgs"
 */
export function argumentsAt(kubeadm: unknown, place: string): Argument[] {
  const list = valueAt(kubeadm, place.split("."));
  return (Array.isArray(list) ? list : []).map((one: unknown) => {
    const { name, value } = isObject(one) ? one : {};
    return {
      name: typeof name === "string" ? name : "",
      value: typeof value === "string" ? value : undefined,
    };
  });
}
