import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import {
  acquireLease,
  KubernetesClient,
  LeaseHeld,
  type LeaseHolder,
  LeaseLost,
} from "../../../../lib/kubernetes";
import type { NamedHolder } from "../../../../lib/kubernetes/lease-holder";
import { processPlace, readProcess } from "../../../../lib/process/identity";
import { type Certificate, TestAuthority } from "../../../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../../../support/kubernetes-server";

const PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/foresail";
const ann: LeaseHolder = {
  user: "ann",
  host: "laptop",
  stack: "prod",
  pid: 11,
  startedAt: "2026-01-01T00:00:00Z",
};
const bob: LeaseHolder = {
  user: "bob",
  host: "runner",
  stack: "prod",
  pid: 12,
  startedAt: "2026-01-01T00:01:00Z",
};

describe("acquireLease", () => {
  let folder: string;
  let authority: TestAuthority;
  let certificate: Certificate;
  let server: TestKubernetesServer;
  let client: KubernetesClient;
  const releases: (() => Promise<void>)[] = [];

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "foresail-test-"));
    authority = new TestAuthority(folder);
    certificate = authority.issue("server", "/CN=server", ["IP:127.0.0.1"]);
  });
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    server = await new TestKubernetesServer(certificate).listen();
    client = await KubernetesClient.connect(
      { kubeconfig: kubeconfigOf(authority, [server]) },
      { seconds: 5 },
    );
  });
  afterEach(async () => {
    for (const release of releases.splice(0)) await release();
    client.close();
    await server.close();
  });

  const quick = { seconds: 5, durationSeconds: 1, renewSeconds: 0.2 };
  async function acquire(holder: NamedHolder, options: object = {}, by = client) {
    const handle = await acquireLease(by, holder, { ...quick, ...options });
    releases.push(() => handle.release());
    return handle;
  }
  const spec = () => server.store.objects.get(PATH)?.spec as { holderIdentity?: string; renewTime: string };

  it("acquires a free Lease, renews it, and releases it", async () => {
    const handle = await acquire(ann);
    assert.match(spec().holderIdentity ?? "", /^ann@laptop\/prod\/11/);
    const { renewTime } = spec();
    while (spec().renewTime === renewTime) await new Promise((resolve) => setTimeout(resolve, 10));
    await handle.release();
    assert.equal(spec().holderIdentity, undefined);
    await acquire(bob);
    assert.match(spec().holderIdentity ?? "", /^bob/);
  });

  it("refuses a second holder by the name of the first, as soon as that renews", async () => {
    await acquire(ann);
    await assert.rejects(acquire(bob), (error: LeaseHeld) => {
      assert.ok(error instanceof LeaseHeld);
      assert.match(error.message, /^ann@laptop \(stack prod, process 11, since 2026-01-01T00:00:00Z\)/);
      return true;
    });
  });

  it("waits for a live holder when asked to", async () => {
    const first = await acquire(ann);
    const second = acquire(bob, { waitForLiving: true, seconds: 10 });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.match(spec().holderIdentity ?? "", /^ann/);
    await first.release();
    await second;
    assert.match(spec().holderIdentity ?? "", /^bob/);
  });

  it("takes over the Lease of a holder that no longer renews, after its duration", async () => {
    await acquire(ann, { renewSeconds: 1000 });
    const startedAt = Date.now();
    await acquire(bob);
    assert.ok(Date.now() - startedAt >= 1000);
  });

  it("takes over the Lease of a dead process on this host at once", async () => {
    const child = spawn("sleep", ["30"]);
    const { startTime } = readProcess(child.pid!)!;
    const ref = processPlace();
    const holder = { ...ann, pid: child.pid!, process: { place: ref, startTime } };
    await acquire(holder, { renewSeconds: 1000, durationSeconds: 1000 });
    await assert.rejects(acquire(bob, { seconds: 0.5 }), LeaseHeld);
    child.kill();
    await once(child, "exit");
    const startedAt = Date.now();
    await acquire(bob);
    assert.ok(Date.now() - startedAt < 1000);
  });

  it("is shared in one process, and released by the last user", async () => {
    const [one, other] = await Promise.all([acquire(ann), acquire(ann)]);
    await one.release();
    await one.release();
    assert.match(spec().holderIdentity ?? "", /^ann/);
    await other.release();
    assert.equal(spec().holderIdentity, undefined);
  });

  it("aborts its signal when another holder took it", async () => {
    const handle = await acquire(ann);
    const lease = server.store.objects.get(PATH)!;
    server.store.put(PATH, { ...lease, spec: { ...(lease.spec as object), holderIdentity: "mallory" } });
    await once(handle.signal, "abort");
    assert.ok(handle.signal.reason instanceof LeaseLost);
    assert.match(handle.signal.reason.message, /mallory/);
    await handle.release();
    assert.equal(spec().holderIdentity, "mallory");
  });

  describe("while no API answers", () => {
    const silent = () => "hang" as const;
    let impatient: KubernetesClient;

    beforeEach(async () => {
      impatient = await KubernetesClient.connect(
        { kubeconfig: kubeconfigOf(authority, [server]) },
        { seconds: 5, callSeconds: 0.3 },
      );
    });
    afterEach(() => impatient.close());

    it("is not confirmed once it could have expired, and confirmed again by its next renewal", async () => {
      const handle = await acquire(ann, {}, impatient);
      await handle.confirmed();
      server.intercept = silent;
      await pause(1000);
      let isConfirmed = false;
      const confirmed = handle.confirmed().then(() => (isConfirmed = true));
      await pause(500);
      assert.deepEqual([isConfirmed, handle.signal.aborted], [false, false]);
      server.intercept = () => undefined;
      await confirmed;
      assert.equal(handle.signal.aborted, false);
    });

    it("is given up after a long outage", async () => {
      const handle = await acquire(ann, { silenceSeconds: 1 }, impatient);
      server.intercept = silent;
      await once(handle.signal, "abort");
      await assert.rejects(handle.confirmed(), LeaseLost);
    });
  });

  it("keeps the Lease when someone annotates it", async () => {
    const handle = await acquire(ann);
    const lease = server.store.objects.get(PATH)!;
    const annotations = { ...lease.metadata?.annotations, "foresail/pause": "please" };
    server.store.put(PATH, { ...lease, metadata: { ...lease.metadata, annotations } });
    const { renewTime } = spec();
    while (spec().renewTime === renewTime) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(handle.signal.aborted, false);
  });

  it("names this process as the holder by default", async () => {
    await acquire({ stack: "sandbox-ssh" });
    assert.match(spec().holderIdentity ?? "", new RegExp(`/sandbox-ssh/${process.pid}/`));
    await assert.rejects(acquire(bob), LeaseHeld);
  });
});
