// Follows a resource type with an informer of client-go, as controllers do, and prints what its handlers are called with.
//
// Usage: informer KUBECONFIG GROUP VERSION RESOURCE NAMESPACE
//
// Each line on standard output is a JSON object. The event "listed" is an answered list, with which an informer begins, and
// begins again where it could not go on watching. A line on standard input asks for the cache: resource versions by name.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

var output sync.Mutex

func print(line map[string]any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(text))
}

func happened(event string, object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		event, object = "lost", gone.Obj
	}
	found := object.(*unstructured.Unstructured)
	print(map[string]any{
		"event": event, "name": found.GetName(), "resourceVersion": found.GetResourceVersion(),
	})
}

// Transport prints each list that is answered. A list may be a watch that begins with all that is there.
type transport struct{ http.RoundTripper }

func (below transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := below.RoundTripper.RoundTrip(request)
	asked := request.URL.Query()
	lists := !asked.Has("watch") || asked.Has("sendInitialEvents")
	if lists && err == nil && response.StatusCode == http.StatusOK {
		print(map[string]any{"event": "listed"})
	}
	return response, err
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		panic(err)
	}
	config.Wrap(func(below http.RoundTripper) http.RoundTripper { return transport{below} })
	resource := schema.GroupVersionResource{Group: os.Args[2], Version: os.Args[3], Resource: os.Args[4]}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(
		dynamic.NewForConfigOrDie(config), 0, os.Args[5], nil)
	informer := factory.ForResource(resource).Informer()
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { happened("added", object) },
		UpdateFunc: func(_, object any) { happened("updated", object) },
		DeleteFunc: func(object any) { happened("deleted", object) },
	})
	stop := make(chan struct{})
	go informer.Run(stop)
	cache.WaitForCacheSync(stop, informer.HasSynced)
	print(map[string]any{"event": "synced"})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		versions := map[string]string{}
		for _, each := range informer.GetStore().List() {
			found := each.(*unstructured.Unstructured)
			versions[found.GetName()] = found.GetResourceVersion()
		}
		print(map[string]any{"event": "cache", "versions": versions})
	}
}
