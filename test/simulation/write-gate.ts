import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { KubernetesClient } from "../../lib/kubernetes";
import { TestAuthority } from "../support/certificates";
import { addWrite, type AdmissionRequest, type RolloutWrite, writesOf } from "./rollout-writes";

const CONFIGURATION = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  name: "write-gate",
};
const WATCHED = [
  { apiGroups: [""], operations: ["UPDATE"], resources: ["nodes", "nodes/status", "configmaps"] },
  { apiGroups: [""], operations: ["CREATE"], resources: ["pods/eviction"] },
  { apiGroups: ["coordination.k8s.io"], operations: ["UPDATE"], resources: ["leases"] },
];

/** A write that the API server has received and not yet executed. */
interface HeldWrite {
  readonly write: RolloutWrite;
  /** Allows it, or refuses it. */
  readonly answer: (isTaken: boolean) => void;
}

/**
 * Serves as the admission webhook of a real API server: sees each write of a rollout and of the node agents before
 * it comes about, writes it down, and on request holds one there. So a kill can be placed exactly before or after it.
 */
export class WriteGate {
  /** what happened, in order */
  readonly writes: RolloutWrite[] = [];
  held?: HeldWrite;
  private isPoint: (write: RolloutWrite) => boolean = () => false;
  private isRunning = true;
  private waiting: (() => void)[] = [];
  private asked = 0;

  private constructor(
    private readonly server: Server,
    private readonly folder: string,
  ) {}

  /** Registers the gate with the API server and waits for its first request. @param probe a Node that may be written to */
  static async open(kubernetes: KubernetesClient, probe: string): Promise<WriteGate> {
    const folder = mkdtempSync(path.join(tmpdir(), "foresail-gate-"));
    const authority = new TestAuthority(folder);
    const { key, certificate } = authority.issue("gate", "/CN=gate", ["IP:127.0.0.1"]);
    const server = createServer({ key, cert: certificate });
    const gate = new WriteGate(server, folder);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const review = JSON.parse(Buffer.concat(chunks).toString()) as { request: AdmissionRequest };
        void gate.admit(review.request).then((allowed) => {
          const status = allowed ? {} : { status: { code: 503, message: "refused by the gate" } };
          const answer = { response: { uid: review.request.uid, allowed, ...status } };
          response.setHeader("content-type", "application/json");
          response.end(
            JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", ...answer }),
          );
        });
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await kubernetes.create({
      apiVersion: CONFIGURATION.apiVersion,
      kind: CONFIGURATION.kind,
      metadata: { name: CONFIGURATION.name },
      webhooks: [
        {
          name: "gate.foresail.test",
          clientConfig: { url, caBundle: Buffer.from(authority.own.certificate).toString("base64") },
          rules: WATCHED.map((rule) => ({ ...rule, apiVersions: ["v1"] })),
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          failurePolicy: "Fail",
          timeoutSeconds: 30,
        },
      ],
    });
    const annotate = (value: string | null) =>
      kubernetes.mergePatch(
        { apiVersion: "v1", kind: "Node", name: probe },
        { metadata: { annotations: { "example.org/probe": value } } },
      );
    for (let count = 0; gate.asked === 0; count += 1) {
      if (count > 300) throw new Error("the API server does not ask its webhook");
      await annotate(String(count));
      await pause(50);
    }
    await annotate(null);
    return gate;
  }

  /**
   * Prepares for a run: the first write that is a point is held. The agents' writes wait until a run has taken
   * the cluster's Lease, so that a run is under way whenever they write.
   */
  expectRun(isPoint: (write: RolloutWrite) => boolean): void {
    this.expectNoRun();
    this.isPoint = isPoint;
  }

  /** No run is under way: the agents' writes wait, and nothing is held. */
  expectNoRun(): void {
    delete this.held;
    this.isPoint = () => false;
    this.isRunning = false;
  }

  /** Stops holding writes, and allows all that wait. */
  release(): void {
    this.isPoint = () => false;
    this.beginRun();
    this.held?.answer(true);
    delete this.held;
  }

  async close(kubernetes: KubernetesClient): Promise<void> {
    this.release();
    await kubernetes.delete(CONFIGURATION).catch(() => undefined);
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private beginRun(): void {
    this.isRunning = true;
    this.waiting.splice(0).forEach((begun) => begun());
  }

  private async admit(request: AdmissionRequest): Promise<boolean> {
    this.asked += 1;
    const writes = writesOf(request);
    const [first] = writes;
    if (!first) return true;
    if (first.what === "took the Lease") {
      this.beginRun();
      return true;
    }
    while (first.byAgent && !this.isRunning) await new Promise<void>((begun) => this.waiting.push(begun));
    const isAgain = this.held?.write.what === first.what && this.held.write.node === first.node;
    if (this.isPoint(first) && (isAgain || this.held === undefined)) {
      // the API server has given the held request up after the webhook's timeout, and its sender asks again
      this.held?.answer(false);
      const isTaken = await new Promise<boolean>((answer) => (this.held = { write: first, answer }));
      if (!isTaken) return false;
    }
    for (const write of writes) addWrite(this.writes, write);
    return true;
  }
}
