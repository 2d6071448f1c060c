"""Creates or updates what a cloud's operator sets up. Argument: "catalog" or "content".

Standard input is JSON in the format of Seed in sandbox/openstack/seed.ts; standard output is JSON.
"""
import json
import sys

import openstack


def ensure_catalog(cloud, seed):
    identity = cloud.identity
    # Neutron lets only the role "service" change binding:profile, which nova does when it frees a port
    project = (identity.find_project("service")
               or identity.create_project(name="service", domain_id="default"))
    user = (identity.find_user(seed["service"]["user"])
            or identity.create_user(name=seed["service"]["user"], password=seed["service"]["password"],
                                    domain_id="default"))
    for name in ("admin", "service"):
        role = identity.find_role(name) or identity.create_role(name=name)
        identity.assign_project_role_to_user(project, user, role)
    services = {each.type: each for each in identity.services()}
    endpoints = list(identity.endpoints())
    for entry in seed["catalog"]:
        service = services.get(entry["type"]) or identity.create_service(type=entry["type"], name=entry["name"])
        for interface in ("public", "internal", "admin"):
            url = entry["public" if interface == "public" else "internal"]
            found = [each for each in endpoints if each.service_id == service.id and each.interface == interface]
            if not found:
                identity.create_endpoint(service_id=service.id, interface=interface, url=url,
                                         region_id=seed["region"])
            elif found[0].url != url:
                identity.update_endpoint(found[0], url=url)


def ensure_content(cloud, seed):
    identity = cloud.identity
    project = (identity.find_project(seed["project"]["name"])
               or identity.create_project(name=seed["project"]["name"], domain_id="default"))
    user = (identity.find_user(seed["project"]["user"])
            or identity.create_user(name=seed["project"]["user"], password=seed["project"]["password"],
                                    domain_id="default", default_project_id=project.id))
    for name in seed["project"]["roles"]:
        role = identity.find_role(name) or identity.create_role(name=name)
        identity.assign_project_role_to_user(project, user, role)

    flavors = {each.name for each in cloud.compute.flavors()}
    for flavor in seed["flavors"]:
        if flavor["name"] not in flavors:
            cloud.compute.create_flavor(**flavor)
    if not cloud.image.find_image(seed["image"]):
        cloud.image.create_image(name=seed["image"], disk_format="raw", container_format="bare",
                                 data=b"This server is a container node.\n", visibility="public",
                                 min_disk=1)
    public = seed["public"]
    network = cloud.network.find_network(public["name"])
    if network is None:
        network = cloud.network.create_network(name=public["name"], is_router_external=True,
                                               provider_network_type="flat",
                                               provider_physical_network="public")
        cloud.network.create_subnet(network_id=network.id, name=public["name"], ip_version=4,
                                    cidr=public["cidr"], gateway_ip=public["gateway"], enable_dhcp=False,
                                    allocation_pools=[{"start": public["first"], "end": public["last"]}])
    cloud.compute.update_quota_set(project, **seed["quota"]["compute"])
    cloud.network.update_quota(project.id, **seed["quota"]["network"])

    if seed["volumeTypes"]:
        types = {each.name for each in cloud.block_storage.types()}
        for name in seed["volumeTypes"]:
            if name not in types:
                cloud.block_storage.create_type(name=name)
        cloud.block_storage.update_quota_set(project, **seed["quota"]["volume"])

    own = cloud.connect_as(username=seed["project"]["user"], password=seed["project"]["password"],
                           user_domain_name="Default", project_name=seed["project"]["name"],
                           project_domain_name="Default")
    credential = own.identity.find_application_credential(user.id, seed["credential"]["name"])
    if credential is None:
        credential = own.identity.create_application_credential(
            user.id, name=seed["credential"]["name"], secret=seed["credential"]["secret"],
            roles=[{"name": name} for name in seed["project"]["roles"]])
    return {"project": project.id, "credential": credential.id}


def main():
    seed = json.load(sys.stdin)
    cloud = openstack.connect(load_yaml_config=False, load_envvars=False, **seed["administrator"])
    made = {"catalog": ensure_catalog, "content": ensure_content}[sys.argv[1]](cloud, seed)
    json.dump(made or {}, sys.stdout)


main()
