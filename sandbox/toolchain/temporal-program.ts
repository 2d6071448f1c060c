import type { Program } from "./program";

/** The version of Temporal's command; newer ones need a module that the Go proxy does not serve. */
const TEMPORAL_VERSION = "1.5.1";

const MODULE = "github.com/temporalio/cli";

/** Temporal's command with its development server, which the tests of fleets run. Nothing else installs it. */
export const temporal: Program = {
  name: "temporal",
  version: TEMPORAL_VERSION,
  title: `Temporal ${TEMPORAL_VERSION}, its development server`,
  folder: `programs/temporal-${TEMPORAL_VERSION}`,
  files: ["temporal"],
  downloads: [],
  builds: [
    {
      module: "temporal",
      packages: { temporal: `${MODULE}/cmd/temporal` },
      ldflags: `-s -w -X ${MODULE}/internal/temporalcli.Version=${TEMPORAL_VERSION}`,
    },
  ],
};
