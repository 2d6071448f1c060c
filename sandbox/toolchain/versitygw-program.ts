import type { Program } from "./program";

const VERSION = "1.8.0";

/** An S3 gateway over a folder. Used by the tests of state in a bucket only. */
export const versitygw: Program = {
  name: "versitygw",
  version: VERSION,
  title: `Versity S3 gateway ${VERSION}`,
  folder: `programs/versitygw-${VERSION}`,
  files: ["versitygw"],
  downloads: [],
  builds: [
    {
      module: "versitygw",
      packages: { versitygw: "github.com/versity/versitygw/cmd/versitygw" },
      ldflags: `-s -w -X main.Version=${VERSION}`,
    },
  ],
};
