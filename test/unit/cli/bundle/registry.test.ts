import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PATIENCE } from "../../../../providers/kubeadm/client/bundle/persistence";
import { RegistryClient } from "../../../../providers/kubeadm/client/bundle/registry";
import { readLogins } from "../../../../providers/kubeadm/client/bundle/registry-login";
import {
  type ImageReference,
  readImageReference,
} from "../../../../providers/kubeadm/plan/bundle/image-reference";
import { BundleUpstream } from "../../../support/bundle-upstream";

const requests = { patience: { ...PATIENCE, pauseMilliseconds: 1 }, say: () => undefined };
const APP = readImageReference("registry.example.com/team/app:1") as ImageReference;
const CONFIG = Buffer.from(JSON.stringify({ architecture: "amd64" }));
const LAYER = Buffer.from("a layer");

describe("a client of registries", () => {
  let [registry, storage]: BundleUpstream[] = [];

  beforeEach(async () => {
    [registry, storage] = [await BundleUpstream.start(), await BundleUpstream.start()];
    for (const repository of ["team/app", "mirror/team/app"])
      await registry.publishImage({ repository, tag: "1", config: CONFIG, layers: [LAYER] });
  });
  afterEach(() => Promise.all([registry?.close(), storage?.close()]));

  const client = (logins: Record<string, string> = {}, prefix = "") =>
    new RegistryClient(
      new Map([["registry.example.com", `${registry?.url}${prefix}`]]),
      new Map(Object.entries(logins)),
      1_000,
    );

  /** Lets the registry answer only requests with a token, which it gives to all, or to one login. */
  function requireToken(login?: string): void {
    assert.ok(registry);
    const { url } = registry;
    registry.intercept = ({ url: asked = "", headers }, response) => {
      if (asked.startsWith("/token")) {
        const isKnown = login === undefined || headers.authorization === `Basic ${login}`;
        response.writeHead(isKnown ? 200 : 401).end(JSON.stringify({ token: asked }));
        return true;
      }
      const scope = encodeURIComponent("repository:team/app:pull");
      if (headers.authorization === `Bearer /token?service=reg&scope=${scope}`) return false;
      const challenge = `Bearer realm="${url}/token",service="reg"`;
      response.writeHead(401, { "www-authenticate": challenge }).end();
      return true;
    };
  }

  it("chooses the manifest of the processor from the index, and keeps the index's digest", async () => {
    const image = await client().resolve(APP, "amd64", requests);
    assert.deepEqual(
      image.blobs.map(({ sha256 }) => sha256),
      [CONFIG, LAYER].map((content) => createHash("sha256").update(content).digest("hex")),
    );
    assert.equal(image.manifests.length, 2);
    assert.match(image.root.mediaType, /index/);
    const byDigest = readImageReference(
      `registry.example.com/team/app:old@${image.root.digest}`,
    ) as ImageReference;
    assert.deepEqual((await client().resolve(byDigest, "amd64", requests)).root, image.root);
  });

  it("takes images from a mirror under a path of its own", async () => {
    await client({}, "/mirror/").resolve(APP, "amd64", requests);
    assert.ok(
      registry?.requests.every((each) => each.startsWith("GET /v2/mirror/team/app/")),
      registry?.requests.join(),
    );
  });

  it("gets a token where a registry asks for one, without a login for what is public", async () => {
    requireToken();
    await client().resolve(APP, "amd64", requests);
  });

  it("gives its login to the server of tokens, and says how to log in when it has none", async () => {
    const login = Buffer.from("user:password").toString("base64");
    requireToken(login);
    await client({ "registry.example.com": login }).resolve(APP, "amd64", requests);
    await assert.rejects(
      client().resolve(APP, "amd64", requests),
      /answers with 401; log in with: docker login/,
    );
  });

  it("sends no token to the server that a blob is redirected to", async () => {
    requireToken();
    assert.ok(registry && storage);
    const seen: (string | undefined)[] = [];
    const { intercept } = registry;
    const target = storage.url;
    registry.intercept = (request, response) => {
      if (intercept(request, response)) return true;
      if (!request.url?.includes("/blobs/")) return false;
      response.writeHead(307, { location: `${target}${request.url}` }).end();
      return true;
    };
    for (const [url, served] of registry.served) storage.served.set(url, served);
    storage.intercept = ({ headers }) => seen.push(headers.authorization) < 0;
    await client().resolve(APP, "amd64", requests);
    assert.deepEqual(seen, [undefined]);
  });

  it("refuses a manifest that does not have the digest by which it was asked for", async () => {
    const { root } = await client().resolve(APP, "amd64", requests);
    const byDigest = readImageReference(`registry.example.com/team/app@${root.digest}`) as ImageReference;
    registry?.served.set(`/v2/team/app/manifests/${root.digest}`, { content: Buffer.from("{}") });
    await assert.rejects(client().resolve(byDigest, "amd64", requests), /sent something else than sha256:/);
  });

  it("refuses an image of one processor only, which is another one", async () => {
    const { manifests } = await client().resolve(APP, "amd64", requests);
    const content = Buffer.from(manifests[1]?.toString().replace("manifest", "manifest") ?? "");
    registry?.served.set("/v2/team/app/manifests/1", {
      content,
      type: "application/vnd.oci.image.manifest.v1+json",
    });
    await client().resolve(APP, "amd64", requests);
    await assert.rejects(client().resolve(APP, "arm64", requests), /team\/app:1 is not for linux\/arm64/);
  });

  it("reads the logins of docker and podman", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "logins-"));
    try {
      const auths = {
        "https://index.docker.io/v1/": { auth: "aa" },
        "registry.example.com": { auth: "bb" },
        empty: {},
      };
      writeFileSync(path.join(folder, "config.json"), JSON.stringify({ auths }));
      assert.deepEqual(
        [...(await readLogins({ DOCKER_CONFIG: folder }))],
        [
          ["index.docker.io", "aa"],
          ["registry.example.com", "bb"],
        ],
      );
      assert.equal((await readLogins({ REGISTRY_AUTH_FILE: path.join(folder, "none") })).size, 0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("the name of an image", () => {
  const cases: [text: string, read: string | RegExp][] = [
    ["nginx:1.29", "docker.io/library/nginx:1.29"],
    ["team/app:1", "docker.io/team/app:1"],
    ["index.docker.io/team/app:1", "docker.io/team/app:1"],
    ["localhost/app:1", "localhost/app:1"],
    ["registry:5000/app:1", "registry:5000/app:1"],
    [`quay.io/a/b:1@sha256:${"a".repeat(64)}`, `quay.io/a/b@sha256:${"a".repeat(64)}`],
    ["registry:5000/app", /neither a tag nor a digest/],
    ["quay.io/a/b@sha512:1", /has a digest that is not/],
    ["https://quay.io/a:1", /is not the name of an image/],
    ["quay.io/../a:1", /is not the name of an image/],
    ["", /is not the name of an image/],
  ];
  for (const [text, expected] of cases)
    it(`is read from ${JSON.stringify(text.slice(0, 40))}`, () => {
      const found = readImageReference(text);
      if (typeof expected === "string") assert.equal((found as ImageReference).name, expected);
      else assert.match(found as string, expected);
    });
});
