"""A resource type for both servers: one CRD is what the one is given, and the source of the other's project."""

import copy

import yaml

GROUP = "compare.test"
VERSIONS = ("v1", "v2")

CRD = yaml.safe_load("""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.compare.test}
spec:
  group: compare.test
  scope: Namespaced
  names:
    kind: Widget
    plural: widgets
    singular: widget
    shortNames: [wd]
    categories: [shop]
  versions:
    - name: v2
      served: true
      storage: true
      subresources: {status: {}}
      additionalPrinterColumns:
        - {name: Title, jsonPath: .spec.title, type: string, description: How it is called.}
        - {name: Size, jsonPath: .spec.size, type: integer}
        - {name: Color, jsonPath: .spec.color, type: string, priority: 1}
        - {name: Phase, jsonPath: .status.phase, type: string}
        - {name: Age, jsonPath: .metadata.creationTimestamp, type: date}
      schema:
        openAPIV3Schema:
          description: A thing that is sold.
          type: object
          required: [spec]
          properties:
            spec:
              type: object
              description: What is wanted.
              required: [title]
              properties:
                title: {type: string, pattern: "^[A-Z][a-z ]*$", minLength: 2, maxLength: 20, description: How it is called.}
                size: {type: integer, format: int32, minimum: 0, maximum: 100, default: 1}
                weight: {type: number}
                color: {type: string, enum: [red, green, blue], default: red, description: What it looks like.}
                ready: {type: boolean}
                when: {type: string, format: date-time}
                note: {type: string, nullable: true}
                port: {x-kubernetes-int-or-string: true}
                tags:
                  type: array
                  x-kubernetes-list-type: set
                  items: {type: string}
                steps:
                  type: array
                  maxItems: 4
                  items: {type: string}
                parts:
                  type: array
                  description: What it is made of.
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [name]
                  items:
                    type: object
                    required: [name]
                    properties:
                      name: {type: string, description: Which part.}
                      count: {type: integer, default: 1}
                      material: {type: string}
                limits:
                  type: object
                  additionalProperties: {type: string}
                maker:
                  type: object
                  properties:
                    name: {type: string}
                    country: {type: string, default: de}
                free:
                  type: object
                  x-kubernetes-preserve-unknown-fields: true
            status:
              type: object
              properties:
                phase: {type: string}
                observed: {type: integer}
                conditions:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [type]
                  items:
                    type: object
                    required: [type, status]
                    properties:
                      type: {type: string}
                      status: {type: string}
                      reason: {type: string}
""")
CRD["spec"]["versions"].append(
    copy.deepcopy({**CRD["spec"]["versions"][0], "name": "v1", "storage": False})
)

_OLDER = CRD["spec"]["versions"][1]["schema"]["openAPIV3Schema"]
_OLDER["description"] = "A thing that was made."
_OLDER["properties"]["spec"]["properties"]["title"]["description"] = "The name on its box."
_OLDER["properties"]["spec"]["properties"]["parts"]["description"] = "What was in the box."


def project():
    """What stands in the project's `trundle.yaml`; what clients call the resource type is in the CRD."""
    return {"kubernetes": {"group": GROUP}}
