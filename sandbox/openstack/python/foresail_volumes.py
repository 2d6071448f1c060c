"""Cinder's storage driver without storage: volumes are only rows in its database.

Containers have disks of their own, so nothing reads or writes a volume. While there is a file at FORESAIL_VOLUME_FAULT, no
volume can be created; the file's text is the reason.
"""
import os

from cinder import exception, interface
from cinder.volume import driver


@interface.volumedriver
class ForesailVolumes(driver.VolumeDriver):
    VERSION = "1.0"

    def do_setup(self, context):
        self.set_initialized()

    def check_for_setup_error(self):
        pass

    def _update_volume_stats(self):
        self._stats = {
            "volume_backend_name": self.configuration.safe_get("volume_backend_name"),
            "vendor_name": "foresail", "driver_version": self.VERSION, "storage_protocol": "foresail",
            "total_capacity_gb": "infinite", "free_capacity_gb": "infinite", "reserved_percentage": 0}

    def create_volume(self, volume):
        fault = os.environ.get("FORESAIL_VOLUME_FAULT", "")
        if os.path.exists(fault):
            with open(fault) as file:
                raise exception.VolumeBackendAPIException(data=file.read())

    def clone_image(self, context, volume, image_location, image_meta, image_service):
        """Reports the volume as a copy of the image at once."""
        self.create_volume(volume)
        return {}, True

    def create_volume_from_snapshot(self, volume, snapshot):
        self.create_volume(volume)

    def create_cloned_volume(self, volume, src_vref):
        self.create_volume(volume)

    def delete_volume(self, volume):
        pass

    def create_snapshot(self, snapshot):
        pass

    def delete_snapshot(self, snapshot):
        pass

    def extend_volume(self, volume, new_size):
        pass

    def create_export(self, context, volume, connector):
        pass

    def ensure_export(self, context, volume):
        pass

    def remove_export(self, context, volume):
        pass

    def initialize_connection(self, volume, connector):
        return {"driver_volume_type": "fake", "data": {"volume_id": volume.id}}

    def terminate_connection(self, volume, connector, **kwargs):
        pass
