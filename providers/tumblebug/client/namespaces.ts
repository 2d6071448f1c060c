import { z } from "zod";
import type { Namespace } from "../plan/model";
import { readAnswer, text } from "./answer";
import type { TumblebugApi } from "./api";
import { deleteObject } from "./delete-object";
import { isRefusal } from "./existence";
import { makeOnce, type Looking } from "./make-once";
import type { Namespaces } from "./tumblebug";

const namespace: z.ZodType<Namespace> = z
  .looseObject({ id: text, name: text, description: text })
  .transform((one) => ({ name: one.id || one.name, description: one.description }));

/** Calls for namespaces, which are the same in both generations. */
export class NamespaceCalls implements Namespaces {
  constructor(
    private readonly api: TumblebugApi,
    private readonly looking: Looking,
  ) {}

  async read(name: string): Promise<Namespace | undefined> {
    const path = `/ns/${name}`;
    try {
      return readAnswer(
        `GET ${path}`,
        namespace,
        await this.api.call({ method: "GET", path, isRepeatable: true }),
      );
    } catch (error) {
      if (isRefusal(error, "NamespaceNotFound")) return undefined;
      throw error;
    }
  }

  create({ name, description = "" }: { name: string; description?: string }): Promise<Namespace> {
    const { signal } = this.api.options;
    return makeOnce(
      async () => {
        const body = { name, description };
        const reply = await this.api.call({ method: "POST", path: "/ns", body, isRepeatable: false });
        return readAnswer("POST /ns", namespace, reply);
      },
      () => this.read(name),
      { looking: this.looking, ...(signal ? { signal } : {}) },
    );
  }

  delete(name: string): Promise<boolean> {
    return deleteObject(this.api, {
      what: `the namespace ${name}`,
      path: `/ns/${name}`,
      isThere: async () => (await this.read(name)) !== undefined,
      inUseSeconds: 0,
    });
  }
}
