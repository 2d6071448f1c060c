import * as pulumi from "@pulumi/pulumi";
import { explainCreationFailure } from "../../providers/openstack/creation-failure";

/**
 * What is asked when an object of the cloud could not be made: its provider says of a server in state ERROR nothing but
 * that, and the cloud knows why. The reason and what to do stand in the output of the same run.
 */
export function creationFailureHook(
  cluster: string,
  place: { cloud?: string; region?: string },
): pulumi.ErrorHook {
  return new pulumi.ErrorHook(`${cluster}-creation-failure`, async (failure) => {
    const { type, name, errors, failedOperation, newInputs } = failure;
    if (failedOperation !== "create") return false;
    const server: unknown = newInputs?.["name"];
    try {
      const words = await explainCreationFailure(
        { type, name, errors, ...(typeof server === "string" ? { server } : {}) },
        place,
      );
      if (words !== undefined) await pulumi.log.error(words);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      await pulumi.log.warn(`the cloud could not be asked why ${name} was not made: ${why}`);
    }
    return false;
  });
}
