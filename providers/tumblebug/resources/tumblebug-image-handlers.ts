import type { Image, DesiredImage } from "../plan/model";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { objectHandlers } from "./object-handlers";
import type { TumblebugImageInputs as Inputs } from "./tumblebug-image";

export const handlers: Handlers = objectHandlers<Inputs, DesiredImage, Image>({
  what: "image",
  reason: "CreateVmImageFailedReason",
  of: ({ images }) => images,
  unregistered: {
    generation: "infra",
    object: ({ connection, cloudImage }) => ({
      ...{ name: cloudImage, connection, cloudImage, cloudId: cloudImage },
      ...{ description: "", guestOs: "" },
    }),
    image: ({ connection, cloudImage }) => `${cloudImage} of ${connection}`,
  },
  wish: ({ name, connection, cloudImage }, description) => ({ name, connection, cloudImage, description }),
  describe: ({ cloudImage }) => cloudImage,
  outputs: () => ({}),
  mismatch: ({ connection, cloudImage }, found) =>
    found.connection !== connection
      ? `belongs to the connection ${found.connection}`
      : found.cloudImage !== cloudImage
        ? `is "${found.cloudImage}" in the cloud, not "${cloudImage}"`
        : undefined,
  fixed: ["cloudImage"],
});
